import type { SearchableBody } from '../format.ts';
import { objectOf } from '../json/object.ts';
import { numberOf, stringOf } from '../json/read.ts';
import { modelFacts, parseModel, type ModelFacts } from './models.ts';

/**
 * True for a body that was written for a model of another generation than the target's: it has thinking, an effort, sampling
 * parameters, a forced tool or system turns that this model refuses (docs/protocols/messages-route.md#other-generation). False
 * for a model that the gateway does not know.
 */
export function misfits(body: SearchableBody, { model }: { readonly model: string }): boolean {
  if (parseModel(model).family === 'unknown') return false;
  const facts = modelFacts(model);
  return (
    thinksOtherwise(objectOf(valueOf(body, 'thinking')), facts) ||
    outputsOtherwise(objectOf(valueOf(body, 'output_config')), facts) ||
    (facts.fixedSampling && samples(body)) ||
    (!facts.forcedTools && isForced(objectOf(valueOf(body, 'tool_choice')))) ||
    (!facts.systemTurns && SYSTEM_TURNS.some((turn) => body.contains(turn)))
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

function outputsOtherwise(config: ReturnType<typeof objectOf>, facts: ModelFacts): boolean {
  const effort = stringOf(config?.effort);
  if (effort !== undefined && (!facts.effort || (effort === 'xhigh' && !facts.xhighEffort))) return true;
  return config?.format !== undefined && config.format !== null && !facts.structuredOutput;
}

/** Other values than the defaults (docs/protocols/anthropic-messages.md#sampling). */
function samples(body: SearchableBody): boolean {
  const [temperature, topP, topK] = ['temperature', 'top_p', 'top_k'].map((key) => numberOf(valueOf(body, key)));
  return (temperature !== undefined && temperature !== 1) || (topP !== undefined && topP < 0.99) || topK !== undefined;
}

const isForced = (choice: ReturnType<typeof objectOf>): boolean => choice?.type === 'any' || choice?.type === 'tool';

/** As SDKs write JSON: without spaces, or (Python's `json`) with one after the colon. */
const SYSTEM_TURNS = ['"role":"system"', '"role": "system"'];
