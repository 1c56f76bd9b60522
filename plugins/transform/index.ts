import {
  countLosses,
  definePlugin,
  type Attempt,
  type Exchange,
  type Operation,
  type Prepared,
  type RequestBody,
  type ResolvedTarget,
  type Steps,
  type SentFile,
} from '../../src/core/kernel/index.ts';
import { GatewayError } from '../../src/plugin/index.ts';

/** Resolves the target and encodes the request in the target's format. */
export default definePlugin({
  name: 'transform',
  level: 'attempt',
  needs: ['targets', 'media', 'translate', 'turns'],
  provides: ['outbound'],
  explain({ attempt, exchange: { operation } }) {
    const { resolved, outbound, losses, storedFiles, defaulted = [] } = attempt;
    if (!resolved || !outbound || !operation) return undefined;
    const calls = outbound.batch?.bodies.length ?? 1;
    const lost = countLosses(losses);
    const parts = [
      howWritten(operation, resolved),
      ...(calls > 1 ? [`${calls} calls`] : []),
      ...defaulted.map(({ param, value }) => `${param} ${value} by default`),
      ...(lost > 0 ? [`${lost} ${lost === 1 ? 'parameter' : 'parameters'} lost`] : []),
      ...(storedFiles ? [`stored files: ${describeStoredFiles(storedFiles, resolved)}`] : []),
    ];
    const { slug, model, format } = resolved;
    const details = { slug, model, format, calls, lost: losses.map(({ param }) => param) };
    return { does: parts.join(', '), details: storedFiles ? { ...details, storedFiles } : details };
  },
  create({ host }) {
    const { targets, media, translate, turns } = host;
    const place = (exchange: Exchange, attempt: Attempt): ResolvedTarget => {
      const model = attempt.body.string('model') ?? '';
      const stream = attempt.body.value('stream') === true;
      return targets.resolve(exchange, attempt.target, model, stream);
    };
    /** Prepares in one step. Returns a promise only when media must be fetched. */
    const atOnce = (exchange: Exchange, attempt: Attempt): Prepared | Promise<Prepared> => {
      const resolved = place(exchange, attempt);
      attempt.resolved = resolved;
      const inlined = media.inline(exchange, attempt, resolved);
      if (!inlined) return translate.prepare(exchange, attempt, resolved);
      return inlined.then((body) => withBody(attempt, body, () => translate.prepare(exchange, attempt, resolved)));
    };
    /** Prepares a large body with a turn per step: resolving, reading and validating, fetching media, encoding. */
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
    return {
      step({ attempt, exchange }) {
        const isHeavy = turns.isHeavy(attempt.body.original.length);
        const keep = ({ outbound, losses, defaulted }: Prepared): undefined => {
          attempt.outbound = outbound;
          // The attempt now waits for its upstream, perhaps for minutes.
          if (isHeavy) for (const body of [attempt.body, exchange.request.body]) body?.forgetParsed();
          attempt.losses.push(...losses);
          attempt.defaulted = defaulted;
          refuseLosses(exchange, attempt);
        };
        const written = isHeavy ? inTurns(exchange, attempt) : atOnce(exchange, attempt);
        return 'outbound' in written ? keep(written) : written.then(keep);
      },
    };
  },
});

function howWritten({ task, format, semconvName }: Operation, resolved: ResolvedTarget): string {
  // Bodies of the other tasks have no named format: they are encoded for the provider.
  if (resolved.estimatesTokens) return 'estimates the tokens: bytes of the request divided by four';
  if (task !== 'generate' && task !== 'count_tokens') return `${semconvName} for ${resolved.provider}`;
  const route =
    format.name === resolved.format ? `${format.name}, not translated` : `${format.name} → ${resolved.format}`;
  const written = resolved.formatReason === undefined ? route : `${route} (${resolved.formatReason})`;
  return task === 'generate' && resolved.inlineThinking ? `${written}, <think> is taken out of the answer` : written;
}

/** Only while it is encoded: the attempt lives until its reply ends and must not hold megabytes of media. */
function withBody<T>(attempt: Attempt, body: RequestBody, write: () => T): T {
  const own = attempt.body;
  attempt.body = body;
  try {
    return write();
  } finally {
    attempt.body = own;
  }
}

/** A caller with `x-gateway-strict-params: true` prefers a 400 to a request without some of its parameters. */
function refuseLosses(exchange: Exchange, { losses }: Attempt): void {
  const [first] = losses;
  if (!exchange.strictParams || !first) return;
  const param = first.count === undefined ? first.param : null;
  throw new GatewayError('unsupported_parameter', `The target cannot express: ${listOf(losses)}.`, { param });
}

/** Maximum length, in characters, of the listed losses; further losses are only counted. */
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

/** Files named in the description; the rest are counted. */
const DESCRIBED = 5;

function describeStoredFiles(files: readonly SentFile[], { format }: ResolvedTarget): string {
  const ways = files.slice(0, DESCRIBED).map(({ param, bytes, mime, way, uri }) => {
    const how = way === 'uri' ? `by its address ${uri}` : `inline, ${bytes} bytes of ${mime}`;
    return `${param} ${how}`;
  });
  const more = files.length > DESCRIBED ? [`and ${files.length - DESCRIBED} more`] : [];
  const why = files.some(({ way }) => way === 'uri')
    ? 'Vertex AI reads Cloud Storage itself'
    : files.some(({ uri }) => uri !== undefined)
      ? `${format} here reads no Cloud Storage`
      : 'files of a local folder have no address that a provider could read';
  return `${[...ways, ...more].join('; ')}: ${why}`;
}
