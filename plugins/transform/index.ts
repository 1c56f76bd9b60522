import {
  countLosses,
  definePlugin,
  GatewayError,
  type Attempt,
  type Exchange,
  type Operation,
  type Prepared,
  type RequestBody,
  type ResolvedTarget,
  type Steps,
} from '../../src/plugin/index.ts';

/** Finds where the target lives and writes the request in the format that is spoken there. */
export default definePlugin({
  name: 'transform',
  level: 'attempt',
  options: { type: 'object', additionalProperties: false, properties: {} },
  needs: ['targets', 'media', 'translate', 'turns'],
  provides: ['outbound'],
  explain({ attempt, exchange: { operation } }) {
    const { resolved, outbound, losses } = attempt;
    if (!resolved || !outbound || !operation) return undefined;
    const calls = outbound.batch?.bodies.length ?? 1;
    const lost = countLosses(losses);
    const parts = [
      howWritten(operation, resolved),
      ...(calls > 1 ? [`${calls} calls`] : []),
      ...(lost > 0 ? [`${lost} ${lost === 1 ? 'parameter' : 'parameters'} lost`] : []),
    ];
    const { slug, model, format } = resolved;
    return { does: parts.join(', '), details: { slug, model, format, calls, lost: losses.map(({ param }) => param) } };
  },
  create({ host }) {
    const { targets, media, translate, turns } = host;
    const place = (exchange: Exchange, attempt: Attempt): ResolvedTarget => {
      const model = attempt.body.string('model') ?? '';
      const stream = attempt.body.value('stream') === true;
      return targets.resolve(exchange, attempt.target, model, stream);
    };
    /** A promise only where media are missing. */
    const atOnce = (exchange: Exchange, attempt: Attempt): Prepared | Promise<Prepared> => {
      const resolved = place(exchange, attempt);
      attempt.resolved = resolved;
      const inlined = media.inline(exchange, attempt, resolved);
      if (!inlined) return translate.prepare(exchange, attempt, resolved);
      return inlined.then((body) => withBody(attempt, body, () => translate.prepare(exchange, attempt, resolved)));
    };
    /** Each step of a large body in a turn of its own: its place, reading and checking it, media by their address, writing it. */
    const inTurns = async (exchange: Exchange, attempt: Attempt): Promise<Prepared> => {
      const all = async <T>(steps: Steps<T>, body: RequestBody): Promise<T> => {
        for (;;) {
          const step = await turns.run(exchange, () => withBody(attempt, body, () => steps.next()), attempt);
          if (step.done) return step.value;
        }
      };
      const resolved = await turns.run(exchange, () => place(exchange, attempt), attempt);
      attempt.resolved = resolved;
      await all(translate.check(exchange, attempt, resolved), attempt.body);
      const inlined = await turns.run(exchange, () => media.inline(exchange, attempt, resolved), attempt);
      return all(translate.prepareInSteps(exchange, attempt, resolved), inlined ?? attempt.body);
    };
    return async function transform(ctx, next) {
      const { attempt, exchange } = ctx;
      const written = turns.isHeavy(attempt.body.original.length)
        ? inTurns(exchange, attempt)
        : atOnce(exchange, attempt);
      // No promise where none is needed.
      const { outbound, losses } = 'outbound' in written ? written : await written;
      attempt.outbound = outbound;
      attempt.losses.push(...losses);
      refuseLosses(exchange, attempt);
      await next();
    };
  },
});

function howWritten({ task, format, semconvName }: Operation, resolved: ResolvedTarget): string {
  // Bodies of the other tasks have no format of their own: they are written for the provider.
  if (task !== 'generate' && task !== 'count_tokens') return `${semconvName} for ${resolved.provider}`;
  return format.name === resolved.format ? `${format.name}, not translated` : `${format.name} → ${resolved.format}`;
}

/** For as long as it is written: what is kept of an attempt as long as its reply flows must not hold megabytes of media. */
function withBody<T>(attempt: Attempt, body: RequestBody, write: () => T): T {
  const own = attempt.body;
  attempt.body = body;
  try {
    return write();
  } finally {
    attempt.body = own;
  }
}

/** A caller that sets `x-gateway-strict-params: true` would rather have a 400 than a request that says less than it wrote. */
function refuseLosses(exchange: Exchange, { losses }: Attempt): void {
  const [first] = losses;
  if (!exchange.strictParams || !first) return;
  const param = first.count === undefined ? first.param : null;
  throw new GatewayError('unsupported_parameter', `The target cannot express: ${listOf(losses)}.`, { param });
}

/** Characters of the message that losses are listed in: what has no room there is counted. */
const MAX_LISTED = 4096;

function listOf(losses: Attempt['losses']): string {
  const listed: string[] = [];
  let room = MAX_LISTED;
  for (const { param, reason, count } of losses) {
    if (count !== undefined) break;
    const words = `${param} (${reason})`;
    room -= words.length;
    if (room < 0) break;
    listed.push(words);
  }
  const left = countLosses(losses) - listed.length;
  if (left === 0) return listed.join('; ');
  return listed.length === 0 ? `${left} parameters` : `${listed.join('; ')}; and ${left} more`;
}
