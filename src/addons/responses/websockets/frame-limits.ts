import type { ServerOptions } from 'ws';

/** Messages of a client may come in this many fragments. */
export const MOST_FRAGMENTS = 1024;
/**
 * Reads in which one frame may come: `ws` joins them with `Array.shift`, which copies the list from some 16,000 entries on. The 262,144
 * that it allows blocked the process for 8 seconds, these take 45 ms (measured). A frame of 16 MiB in segments of Ethernet is 12,000 reads.
 */
const MOST_READS = 16 * 1024;
const CLOSE_MS = 5000;

/** How `ws` reads the frames of a client, which have at most so many bytes. */
export const frameOptions = (frameBytes: number): ServerOptions & { readonly closeTimeout: number } => ({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: frameBytes,
  maxFragments: MOST_FRAGMENTS,
  maxBufferedChunks: MOST_READS,
  closeTimeout: CLOSE_MS,
  // Pongs for a client that does not read would fill the memory.
  autoPong: false,
  // A browser's page can send a key only as a protocol, and the answer would repeat it.
  handleProtocols: () => false,
});
