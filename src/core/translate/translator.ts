import { codecOf, quirksOf } from '../catalog/catalog-target.ts';
import { formats } from '../../formats/index.ts';
import {
  foreignParams,
  type Attempt,
  type Exchange,
  type Operation,
  type Prepared,
  type ResolvedTarget,
  type Steps,
  type Translator,
} from '../kernel/index.ts';
import { GatewayError, type Clock } from '../../plugin/index.ts';
import type { Loss } from '../../formats/conversation.ts';
import type { PassThroughSupport } from '../../formats/format.ts';
import { joinLosses, LossReport } from '../../formats/losses/losses.ts';
import { finish } from '../../formats/steps.ts';
import { ConfigParams } from '../../formats/config-params.ts';
import { refusePromises } from '../../formats/residency.ts';
import { derived, fitParams, withoutRefused, withParams } from './fit-params.ts';
import { lostFeatures } from './outbound-headers.ts';
import {
  clientContext,
  checkMessagesRoute,
  takesLabelHeader,
  wholeBody,
  withCode,
  type ClientSetup,
  type TranslationJob,
  placeOf,
} from './translation-job.ts';
import { clientCodec } from './client-codec.ts';
import { keepRequest, passThroughOf, prepareGeneration } from './translate-chat.ts';
import { refuseFields, withoutForeignFields } from './target-fields.ts';
import { applyQuirks } from './quirks.ts';
import { withoutUnknownIds } from './unknown-ids.ts';
import { prepareTask, countingCodec } from './translate-task.ts';
import { createSignals } from '../../formats/events.ts';

/**
 * As the caller's bytes if both formats are the same, otherwise through the conversation.
 * @param holdBytes `limits.hold_bytes`. Default: no limit, for requests that are not sent
 */
export function createTranslator(clock: Clock, holdBytes?: number): Translator {
  const setup = { clock, holdBytes };
  const translator: Translator = {
    *check(exchange, attempt, resolved) {
      const { operation } = exchange;
      if (!operation) return;
      const rewritten = isOwnFormat(operation, resolved) && !ownPassThrough({ attempt, operation, resolved });
      if (rewritten || readsWhole(operation, resolved)) yield* wholeBody({ exchange, attempt, operation });
    },
    prepare(exchange, attempt, resolved) {
      const { operation } = exchange;
      // The caller's bytes need no steps, and generators would cost more than the rest.
      const support = operation && ownPassThrough({ attempt, operation, resolved });
      const foreign = support && foreignParams(attempt.body);
      if (support && !foreign) {
        const job = jobOf(exchange, attempt, { operation, resolved, foreign, ...setup });
        try {
          return completed(job, keepRequest(job, support));
        } catch (error) {
          throw withCode(error);
        }
      }
      return finish(translator.prepareInSteps(exchange, attempt, resolved));
    },
    *prepareInSteps(exchange, attempt, resolved) {
      const { operation } = exchange;
      if (!operation) throw new GatewayError('internal_error', 'A request without an operation reached translation.');
      let seen = attempt;
      const refused: Loss[] = [];
      for (;;) {
        try {
          const foreign = foreignParams(seen.body);
          const job = jobOf(exchange, seen, { operation, resolved, foreign, ...setup });
          const written = yield* prepare(job);
          const losses = joinLosses(written.losses, refused);
          return completed(job, losses.length > 0 ? { ...written, losses } : written);
        } catch (error) {
          const less = withoutRefused(error, seen);
          if (!less) throw withCode(error);
          refused.push(less.loss);
          seen = derived(seen, less.body);
        }
      }
    },
  };
  return translator;
}

interface JobSetup extends ClientSetup {
  /** Parameters of the config with the names of other APIs. */
  readonly foreign: ReturnType<typeof foreignParams>;
}

function jobOf(exchange: Exchange, given: Attempt, of: JobSetup): TranslationJob {
  const { operation, resolved, foreign } = of;
  checkMessagesRoute(operation, given.target, resolved);
  for (const params of foreign?.byApi.values() ?? []) refusePromises(params, resolved.format, resolved);
  const attempt = foreign ? derived(given, foreign.body) : given;
  refuseFields(operation, attempt.body, resolved);
  return {
    unkept: withoutUnknownIds(operation, attempt.body, resolved),
    configParams: foreign && new ConfigParams(foreign.byApi),
    exchange,
    attempt,
    resolved,
    operation,
    upstream: formats[resolved.format],
    client: clientContext(exchange, attempt, of),
  };
}

function completed(job: TranslationJob, written: Prepared): Prepared {
  const { exchange, attempt, resolved, operation, upstream, unkept } = job;
  const ofHeaders = lostFeatures(exchange, attempt.target, resolved);
  const labels = lostLabels(job);
  const features = labels ? [...ofHeaders, ...labels] : ofHeaders;
  const lost = unkept || exchange.kept?.unreadable ? [...features, ...lostOfEarlier(job)] : features;
  const prepared =
    lost.length + written.losses.length === 0 ? written : { ...written, losses: joinLosses(written.losses, lost) };
  const fitted = applyQuirks(prepared, quirksOf(resolved), { client: operation.format, upstream });
  return withoutForeignFields(operation, attempt.body, { target: resolved, written: fitted });
}

/** Labels of the metadata at a target without labels. A count is not paid for, and has none anywhere. */
function lostLabels({
  exchange: { labels },
  operation: { task },
  resolved,
}: TranslationJob): readonly Loss[] | undefined {
  const names = Object.keys(labels);
  if (names.length === 0 || task === 'count_tokens') return undefined;
  const isLabelled = resolved.format === 'gemini' || takesLabelHeader(resolved);
  if (resolved.host === 'vertex' && (task === 'images' || (task === 'generate' && isLabelled))) return undefined;
  const losses = new LossReport();
  for (const name of names) losses.dropped(`labels.${name}`, 'this target has no cost labels');
  return losses.list();
}

function lostOfEarlier({ exchange: { kept }, unkept }: Pick<TranslationJob, 'exchange' | 'unkept'>): readonly Loss[] {
  const losses = unkept ? [...unkept.losses] : [];
  if (kept?.unreadable)
    losses.push({
      param: kept.continues === undefined ? 'input' : 'previous_response_id',
      action: 'dropped',
      reason: 'reasoning of earlier responses without its encrypted content',
    });
  return losses;
}

/** Of a generation request whose bytes are sent; undefined for any other. */
const ownPassThrough = (request: Parameters<typeof passThroughOf>[0]): PassThroughSupport | undefined =>
  isOwnFormat(request.operation, request.resolved) ? passThroughOf(request) : undefined;

const isOwnFormat = ({ task, format }: Operation, resolved: ResolvedTarget): boolean =>
  task === 'generate' && format.name === resolved.format && !codecOf(resolved) && !resolved.estimatesTokens;

/** True if the body is parsed whole. A request in its target's format is sent as bytes. */
function readsWhole(operation: Operation, resolved: ResolvedTarget): boolean {
  const codec = operation.task === 'count_tokens' ? undefined : codecOf(resolved);
  if (codec) return clientCodec({ operation, resolved }, codec).mode !== 'pass-through';
  return operation.format.name !== resolved.format;
}

/** A count takes a schema of the answer as it is: nothing is answered. */
function* count(job: TranslationJob): Steps<Prepared> {
  const fitted = job.upstream.name === job.operation.format.name ? fitParams(job) : undefined;
  const own = fitted?.job ?? job;
  const written = yield* prepareTask(own, countingCodec(own));
  return fitted ? withParams(written, fitted) : written;
}

function prepare(job: TranslationJob): Steps<Prepared> {
  if (job.resolved.estimatesTokens) return estimate(job);
  if (job.operation.task === 'count_tokens') return count(job);
  const codec = codecOf(job.resolved);
  return codec ? prepareTask(job, clientCodec(job, codec)) : prepareGeneration(job);
}

/** Bytes of a request per token, the usual ratio of English text (docs/protocols/requests.md#token-counts). */
const BYTES_PER_TOKEN = 4;

/** A count that the gateway estimates because the target has none: nothing is sent. */
function* estimate(job: TranslationJob): Steps<Prepared> {
  yield;
  const { operation, attempt, upstream } = job;
  const tokens = Math.ceil(attempt.body.original.length / BYTES_PER_TOKEN);
  const { counting } = operation.format;
  if (!counting) throw new GatewayError('internal_error', `${operation.id} has no form for a count.`);
  const answer = Buffer.from(JSON.stringify(counting.encodeReply(tokens)));
  return {
    losses: [],
    outbound: {
      ...placeOf(job, undefined),
      body: '',
      stream: false,
      contentType: 'application/json',
      answer,
      openReader: () => ({ signals: createSignals(), push: () => undefined, end: () => undefined }),
      decodeError: upstream.decodeError,
    },
  };
}
