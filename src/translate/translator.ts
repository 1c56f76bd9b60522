import { codecOf, quirksOf } from '../catalog/catalog-target.ts';
import { formats } from '../formats/index.ts';
import {
  GatewayError,
  type Attempt,
  type Clock,
  type Exchange,
  type Operation,
  type Prepared,
  type ResolvedTarget,
  type Steps,
  type Translator,
} from '../plugin/index.ts';
import type { Loss } from '../formats/conversation.ts';
import { joinLosses } from '../formats/losses/losses.ts';
import { finish } from '../formats/steps.ts';
import { lostFeatures } from './outbound-headers.ts';
import { clientContext, checkMessagesRoute, orFault, wholeBody, withCode, type Job } from './translation-job.ts';
import { clientCodec } from './client-codec.ts';
import { estimatedCount } from './estimated-count.ts';
import { isOfOtherModel, passThrough, prepareGeneration } from './translate-chat.ts';
import { refuseFields, withoutForeignFields } from './target-fields.ts';
import { applyQuirks } from './quirks.ts';
import { withoutUnknownIds } from './unknown-ids.ts';
import { prepareTask, countingCodec } from './translate-task.ts';

/**
 * Encodes an attempt's request in its target's format: as the caller's bytes if both formats are the same, otherwise
 * through the conversation.
 * @param holdBytes `limits.hold_bytes`. Default: no limit, for requests that are not sent
 */
export function createTranslator(clock: Clock, holdBytes?: number): Translator {
  const setup = { clock, holdBytes };
  const translator: Translator = {
    *check(exchange, attempt, resolved) {
      const { operation } = exchange;
      if (!operation) return;
      const rewritten = isOwnFormat(operation, resolved) && !passesThrough({ attempt, operation, resolved });
      if (rewritten || readsWhole(operation, resolved)) yield* wholeBody({ exchange, attempt, operation });
    },
    prepare(exchange, attempt, resolved) {
      const { operation } = exchange;
      // The caller's bytes need no steps, and generators would cost more than the rest.
      if (operation && passesThrough({ attempt, operation, resolved })) {
        const job = jobOf(exchange, attempt, { operation, resolved, ...setup });
        return completed(
          job,
          orFault(() => passThrough(job)),
        );
      }
      return finish(translator.prepareInSteps(exchange, attempt, resolved));
    },
    *prepareInSteps(exchange, attempt, resolved) {
      const { operation } = exchange;
      if (!operation) throw new GatewayError('internal_error', 'A request without an operation reached translation.');
      const job = jobOf(exchange, attempt, { operation, resolved, ...setup });
      let written: Prepared;
      try {
        written = yield* prepare(job);
      } catch (error) {
        throw withCode(error);
      }
      return completed(job, written);
    },
  };
  return translator;
}

function jobOf(exchange: Exchange, attempt: Attempt, of: Parameters<typeof clientContext>[2]): Job {
  const { operation, resolved } = of;
  checkMessagesRoute(operation, attempt.target, resolved);
  refuseFields(operation, attempt.body, resolved);
  return {
    unkept: withoutUnknownIds(operation, attempt.body, resolved),
    exchange,
    attempt,
    resolved,
    operation,
    upstream: formats[resolved.format],
    client: clientContext(exchange, attempt, of),
  };
}

/** Adds the losses of headers and the quirks of the target's host. */
function completed(job: Job, written: Prepared): Prepared {
  const { exchange, attempt, resolved, operation, upstream, unkept } = job;
  const features = lostFeatures(exchange, attempt.target, resolved);
  const lost = unkept || exchange.kept?.unreadable ? [...features, ...lostOfEarlier(job)] : features;
  const prepared =
    lost.length + written.losses.length === 0 ? written : { ...written, losses: joinLosses(written.losses, lost) };
  const fitted = applyQuirks(prepared, quirksOf(resolved), { client: operation.format, upstream });
  return withoutForeignFields(operation, attempt.body, { target: resolved, written: fitted });
}

/** What a request lacks of the responses before it. */
function lostOfEarlier({ exchange: { kept }, unkept }: Pick<Job, 'exchange' | 'unkept'>): readonly Loss[] {
  const losses = unkept ? [...unkept.losses] : [];
  if (kept?.unreadable)
    losses.push({
      param: kept.continues === undefined ? 'input' : 'previous_response_id',
      action: 'dropped',
      reason: 'reasoning of earlier responses without its encrypted content',
    });
  return losses;
}

/** True for a generation request whose bytes are in its target's format. */
const passesThrough = ({ attempt, operation, resolved }: Passing): boolean =>
  isOwnFormat(operation, resolved) && !isOfOtherModel({ attempt, resolved, upstream: operation.format });

type Passing = Pick<Job, 'attempt' | 'resolved' | 'operation'>;

const isOwnFormat = ({ task, format }: Operation, resolved: ResolvedTarget): boolean =>
  task === 'generate' && format.name === resolved.format && !codecOf(resolved) && !resolved.estimatesTokens;

function* estimate(job: Job): Steps<Prepared> {
  yield;
  return estimatedCount(job);
}

/** True if the body is parsed whole. A request in its target's format is sent as bytes. */
function readsWhole(operation: Operation, resolved: ResolvedTarget): boolean {
  const codec = operation.task === 'count_tokens' ? undefined : codecOf(resolved);
  if (codec) return clientCodec({ operation, resolved }, codec).mode !== 'pass-through';
  return operation.format.name !== resolved.format;
}

function prepare(job: Job): Steps<Prepared> {
  if (job.resolved.estimatesTokens) return estimate(job);
  if (job.operation.task === 'count_tokens') return prepareTask(job, countingCodec(job));
  const codec = codecOf(job.resolved);
  return codec ? prepareTask(job, clientCodec(job, codec)) : prepareGeneration(job);
}
