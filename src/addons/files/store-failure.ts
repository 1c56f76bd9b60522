import { Readable } from 'node:stream';
import { ReadableSource } from '../../core/http/gateway/koa-reply.ts';
import { GatewayError, type Source } from '../../plugin/index.ts';

const DISK: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'its disk is full'],
  ['EDQUOT', 'its quota is used up'],
  ['EROFS', 'its folder is read-only'],
  ['EACCES', 'the gateway may not use its folder'],
  ['EPERM', 'the gateway may not use its folder'],
  ['EMFILE', 'the process has no file descriptor left'],
  ['ENFILE', 'the machine has no file descriptor left'],
  ['EIO', 'its disk failed'],
]);

/** An error of a store for the caller. Messages of the system name paths, so only the cause, for the log, has them. */
export function storeFailure(error: unknown): unknown {
  if (error instanceof GatewayError || !(error instanceof Error) || !('code' in error)) return error;
  const why = DISK.get(String(error.code));
  if (why === undefined && !('syscall' in error)) return error;
  return new GatewayError('file_store_failed', `The store of files cannot be used: ${why ?? String(error.code)}.`, {
    cause: error,
  });
}

/** The body of a reply from pieces that are read one by one, as fast as the client takes them. */
export function sourceOfPieces(pieces: AsyncIterable<Buffer>): Source {
  const read = async function* (): AsyncIterable<Buffer> {
    try {
      yield* pieces;
    } catch (error) {
      throw storeFailure(error);
    }
  };
  return new ReadableSource(Readable.from(read(), { highWaterMark: 1 }));
}
