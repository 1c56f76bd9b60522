import type { AdminRoute } from './admin-route.ts';
import type { IncomingMessage } from 'node:http';
import type { ServerSettings } from '../../../core/settings/compile/server-settings.ts';
import { isObject } from '../../../core/kernel/index.ts';
import { ApiProblem } from './problems.ts';

/** The serving process explains every field: the same limit as for kept requests. Texts of settings have it, too. */
const MAX_EXPLAINED_BYTES = 1024 * 1024;
/** A document of the store has at most half of it. */
const MAX_BODY_BYTES = 128 * 1024;
const MAX_DEPTH = 32;

/** Empty for a route without a body. */
export async function readCallBody(
  request: IncomingMessage,
  { body, explains, large }: AdminRoute,
  limits: Pick<ServerSettings['limits'], 'body'>,
): Promise<Buffer> {
  if (body === undefined) return Buffer.alloc(0);
  // A browser page can send a form anywhere, but JSON only after a preflight request (Fetch, section 3.3.1).
  if (!JSON_TYPE.test(request.headers['content-type'] ?? ''))
    throw new ApiProblem('unsupported_media_type', 'Content-Type must be application/json.');
  const most = explains || large ? Math.min(limits.body, MAX_EXPLAINED_BYTES) : MAX_BODY_BYTES;
  const bytes = await readBody(request, most);
  // A body that exceeds its limit is not awaited.
  if (!bytes)
    throw new ApiProblem('too_large', `The body exceeds ${most} bytes.`, { headers: { connection: 'close' } });
  return bytes;
}

const JSON_TYPE = /^application\/(?:merge-patch\+)?json\s*(?:;|$)/i;

/** Reads the body. Undefined: it exceeds `limit`. */
async function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
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

/** An empty body is an empty object: a rotation needs no fields. */
export function parseCallBody(bytes: Buffer): object {
  try {
    const value: unknown =
      bytes.length === 0 ? {} : JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (isObject(value) && !isDeeper(value, MAX_DEPTH)) return value;
  } catch {}
  throw new ApiProblem('invalid_json', `The body must be one JSON object of at most ${MAX_DEPTH} levels.`);
}

/** Level by level: a recursion would end with the stack. */
function isDeeper(value: unknown, levels: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > levels) return true;
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
  }
  return false;
}
