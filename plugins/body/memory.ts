import type { Exchange } from '../../src/plugin/index.ts';

/**
 * Frees the memory of a buffer that nothing reads any more, instead of at a garbage collection. V8 marks its whole heap
 * after each 64 MB of new buffers that it has not collected, which took half of the CPU of a body of 100 KB and three
 * quarters of that of 1 MB (measured). A later read of the buffer, or of a part of it, finds it empty.
 */
export function freeMemory({ buffer, byteLength }: Buffer): void {
  // A buffer smaller than its ArrayBuffer shares that memory with other buffers. `transfer(0)` frees the memory.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** Frees the memory of a request's body when the request ends, if nothing can read it after that. */
export const freeAtEnd = (exchange: Exchange, bytes: Buffer): void =>
  exchange.onEnd(() => {
    if (isUnread(exchange)) freeMemory(bytes);
  });

/**
 * Only built-in plugins have had the body, so two may still read it: a request that is stored for explanations, and the
 * operating system, to which a connection hands the memory itself. A try that ended early, or with bytes still to be
 * written, leaves the body to the garbage collector.
 */
const isUnread = ({ explainId, attempts }: Exchange): boolean =>
  explainId === undefined && attempts.every(({ tries }) => tries.every(({ delivered }) => delivered));
