import { CHAT_SHAPES } from '../growth/chat-shapes.ts';
import { MESSAGES_SHAPES } from '../growth/messages-shapes.ts';
import type { Json } from '../growth/repeat.ts';

export interface HostileRequest {
  readonly name: string;
  readonly path: string;
  readonly body: Buffer;
}

const SIZES = [128 * 1024, 1024 * 1024, 8 * 1024 * 1024];

const ROUTES = [
  { path: '/v1/chat/completions', shapes: CHAT_SHAPES },
  { path: '/v1/messages', shapes: MESSAGES_SHAPES },
];

/**
 * Endless: every hostile shape at every size for every model, in an order in which neighbours differ in all of them. The bodies
 * are made before the first is sent: making one takes longer than the pause between two.
 */
export function hostileRequests(models: readonly string[]): () => HostileRequest {
  const bodies = ROUTES.flatMap(({ path, shapes }) =>
    Object.entries(shapes).flatMap(([name, shape]) =>
      SIZES.map((bytes) => ({ name, path, rest: bodyOf(shape, bytes) })),
    ),
  );
  let sent = 0;
  return () => {
    // A step that shares no factor with their number visits all of them before it begins again.
    const { name, path, rest } = bodies[(sent * stepOver(bodies.length)) % bodies.length]!;
    const model = models[(sent + Math.floor(sent / bodies.length)) % models.length];
    sent += 1;
    return { name: `${path} ${name}`, path, body: Buffer.concat([Buffer.from(`{"model":"${model}",`), rest]) };
  };
}

/** Without its first bracket and its model, and no longer than it may be: shapes keep their size roughly. */
function bodyOf(shape: (bytes: number) => Json, bytes: number): Buffer {
  const written = (size: number): Buffer => {
    const { model: _, ...rest } = shape(size);
    return Buffer.from(JSON.stringify(rest).slice(1));
  };
  const body = written(bytes);
  return body.length <= bytes ? body : written(Math.floor(bytes * (bytes / body.length) * 0.99));
}

/** About the golden ratio of the length, and coprime to it. */
function stepOver(length: number): number {
  let step = Math.round(length * 0.618);
  while (greatestCommonDivisor(step, length) !== 1) step += 1;
  return step;
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));
