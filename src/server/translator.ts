import { codecOf, quirksOf } from '../catalog/catalog-target.ts';
import type { ClientContext } from '../formats/format.ts';
import { formats } from '../formats/index.ts';
import {
  GatewayError,
  type Attempt,
  type Clock,
  type Exchange,
  type Prepared,
  type ResolvedTarget,
  type Translator,
} from '../plugin/index.ts';
import { prepareGeneration } from './generations.ts';
import { applyQuirks } from './quirks.ts';
import { prepareTask } from './task-requests.ts';
import { countingCodec } from './token-counts.ts';
import { withFaults, type Job } from './translation-job.ts';

/** Writes an attempt's request in its target's format: as the caller's bytes where both speak the same, else through the conversation. */
export function createTranslator(clock: Clock): Translator {
  return {
    prepare(exchange, attempt, resolved) {
      const { operation } = exchange;
      if (!operation) throw new GatewayError('internal_error', 'A request without an operation reached translation.');
      const job: Job = {
        exchange,
        attempt,
        resolved,
        operation,
        upstream: formats[resolved.format],
        client: clientContext(exchange, attempt, resolved, clock),
      };
      const prepared = withFaults(() => prepare(job));
      return applyQuirks(prepared, quirksOf(resolved), operation.format);
    },
  };
}

function prepare(job: Job): Prepared {
  const codec = job.operation.task === 'count_tokens' ? countingCodec(job) : codecOf(job.resolved);
  return codec ? prepareTask(job, codec) : prepareGeneration(job);
}

export function clientContext(
  exchange: Exchange,
  { body, target }: Attempt,
  resolved: ResolvedTarget,
  clock: Clock,
): ClientContext {
  const streamOptions = body.has('stream_options') ? body.value('stream_options') : undefined;
  return {
    id: `chatcmpl-${exchange.id.replaceAll('-', '')}`,
    created: Math.floor(clock.wall() / 1000),
    strict: exchange.strict ?? target.strict ?? true,
    includeUsage: isObject(streamOptions) && streamOptions['include_usage'] === true,
    model: resolved.model,
    functionCalls: body.has('functions') && !body.has('tools'),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
