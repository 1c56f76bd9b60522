import type { RequestTarget } from '../request-target.ts';
import type { SearchableBody } from '../body-view.ts';
import { isObject, objectOf, listOf, numberOf, stringOf } from '../json/object.ts';
import { hasStructuredOutputs, modelFacts, parseModel, type ModelFacts } from './models.ts';

/**
 * True for a body without messages, or with thinking, an effort, sampling parameters, a schema, a forced tool or system turns that this model or its
 * host refuses (docs/protocols/messages-route.md#other-generation). The gateway knows nothing about models of other names.
 */
export function misfits(
  body: SearchableBody,
  target: Pick<RequestTarget, 'model' | 'host' | 'structuredOutputs'>,
): boolean {
  const { model } = target;
  const config = objectOf(valueOf(body, 'output_config'));
  // docs/protocols/vertex-ai.md#claude-features-not-served
  if (!hasStructuredOutputs(target) && hasSchema(body, config)) return true;
  if (isSystemAlone(body)) return true;
  if (parseModel(model).family === 'unknown') return false;
  const facts = modelFacts(model);
  return (
    thinksOtherwise(objectOf(valueOf(body, 'thinking')), facts) ||
    refusesEffort(stringOf(config?.effort), facts) ||
    (!facts.structuredOutput && hasSchema(body, config)) ||
    (facts.fixedSampling && samples(body)) ||
    (!facts.temperatureWithTopP && samplesTwice(body)) ||
    (!facts.forcedTools && isForced(objectOf(valueOf(body, 'tool_choice')))) ||
    (!facts.systemTurns && hasSystemTurns(body))
  );
}

const valueOf = (body: SearchableBody, key: string): unknown => (body.has(key) ? body.value(key) : undefined);

function thinksOtherwise(thinking: ReturnType<typeof objectOf>, { thinking: takes, turnOff }: ModelFacts): boolean {
  switch (thinking?.type) {
    case 'adaptive':
      return takes === 'none' || takes === 'manual';
    case 'between_tools':
      return takes !== 'adaptive';
    case 'enabled':
      return takes === 'none' || takes === 'adaptive';
    case 'disabled':
      return turnOff !== 'disabled';
    default:
      return false;
  }
}

const refusesEffort = (effort: string | undefined, { effort: takes, xhighEffort }: ModelFacts): boolean =>
  effort !== undefined && (!takes || (effort === 'xhigh' && !xhighEffort));

/** `output_format` is the deprecated spelling (docs/protocols/anthropic-messages.md#output-config). */
const hasSchema = (body: SearchableBody, config: ReturnType<typeof objectOf>): boolean =>
  (config?.format ?? valueOf(body, 'output_format') ?? null) !== null;

/** Other values than the defaults (docs/protocols/anthropic-messages.md#sampling). */
function samples(body: SearchableBody): boolean {
  const [temperature, topP, topK] = ['temperature', 'top_p', 'top_k'].map((key) => numberOf(valueOf(body, key)));
  return (temperature !== undefined && temperature !== 1) || (topP !== undefined && topP < 0.99) || topK !== undefined;
}

/** As `encodeSampling` reads them. */
const samplesTwice = (body: SearchableBody): boolean =>
  ['temperature', 'top_p'].every((key) => numberOf(valueOf(body, key)) !== undefined);

const isForced = (choice: ReturnType<typeof objectOf>): boolean => choice?.type === 'any' || choice?.type === 'tool';

const NO_MESSAGES = ['"messages":[]', '"messages": []'];

/** The API demands a message (docs/protocols/requests.md#system-alone). */
const isSystemAlone = (body: SearchableBody): boolean =>
  NO_MESSAGES.some((text) => body.contains(text)) &&
  body.has('system') &&
  listOf(valueOf(body, 'messages'))?.length === 0;

/** As SDKs write JSON: without spaces, or (Python's `json`) with one after the colon. */
const SYSTEM_TURNS = ['"role":"system"', '"role": "system"'];

/** The search spares most bodies the parsing; what it finds may also stand in the input of a tool. */
function hasSystemTurns(body: SearchableBody): boolean {
  if (!SYSTEM_TURNS.some((turn) => body.contains(turn))) return false;
  return listOf(valueOf(body, 'messages'))?.some((turn) => isObject(turn) && turn.role === 'system') ?? false;
}
