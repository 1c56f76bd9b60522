import type { IncomingMessage } from 'node:http';

/** Reads the body. Undefined: it exceeds `limit`. */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > limit) return undefined;
  const pieces: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const end = (): void => resolve(bytes > limit ? undefined : Buffer.concat(pieces));
    request.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= limit) return void pieces.push(piece);
      request.removeAllListeners('data');
      end();
    });
    request
      .once('end', end)
      .once('error', reject)
      .once('close', () => reject(new Error('the client disconnected')));
  });
}

/** A body that exceeds its limit is not awaited. */
export const CLOSE = { connection: 'close' } as const;

export const isJson = (contentType: string | undefined): boolean =>
  /^application\/(?:merge-patch\+)?json\s*(?:;|$)/i.test(contentType ?? '');
