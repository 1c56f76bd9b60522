import type { RequestTarget } from '../request-target.ts';

/**
 * The features that each Claude generation accepts: the one place that knows model names. An unknown id is taken for a
 * newer model, which has no sampling parameters (docs/protocols/anthropic-messages.md#sampling) and thinks as
 * generation 5 does (docs/protocols/anthropic-messages.md#thinking).
 *
 * The facts about the models 5.5 and Fable 5.1 come from the capability table of `@ai-sdk/anthropic` 3.0.138. That
 * table disagrees with the older source on one point, forced tools of Fable 5; there the older source applies
 * (docs/protocols/anthropic-messages.md#tool-choice).
 */

const FAMILIES = ['opus', 'sonnet', 'haiku', 'fable', 'mythos'] as const;
type ClaudeFamily = (typeof FAMILIES)[number] | 'unknown';

interface ClaudeModel {
  readonly family: ClaudeFamily;
  /** 4.5 is 405, so that 4.10 follows 4.9. */
  readonly version: number;
}

export interface ModelFacts {
  /** `both`: 4.6, budgets deprecated. `adaptive`: a budget is a 400 (docs/protocols/anthropic-messages.md#thinking). */
  readonly thinking: 'none' | 'manual' | 'both' | 'adaptive';
  /** How thinking can be turned off (docs/protocols/anthropic-messages.md#thinking): some models always think. */
  readonly turnOff: 'disabled' | 'between_tools' | 'never';
  /** `output_config.effort` is accepted (Opus 4.5, then every model from 4.6 on). */
  readonly effort: boolean;
  readonly xhighEffort: boolean;
  /** No thinking with effort xhigh or max: 400 on Opus 5, 5.5 (docs/protocols/anthropic-messages.md#thinking). */
  readonly highEffortNeedsThinking: boolean;
  /** Only temperature 1, top_p >= 0.99 and no top_k: models after Opus 4.6 (docs/protocols/anthropic-messages.md#sampling). */
  readonly fixedSampling: boolean;
  /**
   * `temperature` and `top_p` in one request: a 200 on Sonnet 4.0, a 400 on later 4.x (docs/protocols/anthropic-messages.md#sampling).
   */
  readonly temperatureWithTopP: boolean;
  /** `output_config.format` and strict tools (docs/protocols/requests.md#response-format). The host must serve them as well. */
  readonly structuredOutput: boolean;
  /** Takes `tool_choice` any and tool (docs/protocols/anthropic-messages.md#tool-choice). */
  readonly forcedTools: boolean;
  /** Turns with the role `system` between others (docs/protocols/requests.md#system-text-for-claude). */
  readonly systemTurns: boolean;
}

/** Vertex AI serves structured outputs where an organisation allows them (docs/protocols/vertex-ai.md#structured-outputs). */
export const hasStructuredOutputs = ({
  host,
  structuredOutputs,
}: Pick<RequestTarget, 'host' | 'structuredOutputs'>): boolean => host === 'direct' || structuredOutputs === true;

const NEWEST = Number.POSITIVE_INFINITY;

/** `claude-sonnet-4-5-20250929`, `claude-opus-4-7`, `claude-fable-5`, `claude-sonnet-4-5@20250929`. */
const FAMILY_FIRST = /claude-(opus|sonnet|haiku|fable|mythos)-(\d{1,2})(?:[-.](\d{1,2}))?(?=$|[-@:.])/;
/** `claude-3-5-haiku-20241022`, `claude-3-opus@20240229`. */
const VERSION_FIRST = /claude-(\d)(?:[-.](\d))?-(opus|sonnet|haiku)/;
/** `claude-2.1`, `claude-instant-1.2`: from before the families, retired, but still named in old configs. */
const ANCIENT = /claude-(?:instant-)?v?([12])(?:\.(\d))?(?=$|[-@:])/;

export function parseModel(id: string): ClaudeModel {
  const name = id.toLowerCase();
  const current = FAMILY_FIRST.exec(name);
  if (current) return { family: familyOf(current[1]), version: versionOf(current[2], current[3]) };
  const early = VERSION_FIRST.exec(name);
  if (early) return { family: familyOf(early[3]), version: versionOf(early[1], early[2]) };
  const ancient = ANCIENT.exec(name);
  if (ancient) return { family: 'unknown', version: versionOf(ancient[1], ancient[2]) };
  if (name.includes('claude-mythos')) return { family: 'mythos', version: versionOf('5', '0') };
  return { family: 'unknown', version: NEWEST };
}

export function modelFacts(id: string): ModelFacts {
  const { family, version } = parseModel(id);
  const turnOff = turnOffOf(family, version);
  return {
    thinking: thinkingOf(version),
    turnOff,
    effort: version >= 406 || (family === 'opus' && version === 405),
    xhighEffort: version >= 407,
    highEffortNeedsThinking: version >= (family === 'opus' ? 500 : 505),
    fixedSampling: version > 406,
    temperatureWithTopP: version <= 400,
    structuredOutput: version >= 405 || (family === 'opus' && version >= 401),
    // The models that cannot stop thinking are also those that cannot be forced to call a tool.
    forcedTools: turnOff === 'disabled',
    systemTurns: version >= 407,
  };
}

function thinkingOf(version: number): ModelFacts['thinking'] {
  if (version < 307) return 'none';
  if (version <= 405) return 'manual';
  return version === 406 ? 'both' : 'adaptive';
}

function turnOffOf(family: ClaudeFamily, version: number): ModelFacts['turnOff'] {
  if (family === 'fable' || family === 'mythos') return 'never';
  if (version !== 505) return 'disabled';
  if (family === 'sonnet') return 'between_tools';
  return family === 'opus' ? 'never' : 'disabled';
}

const familyOf = (name: string | undefined): ClaudeFamily => FAMILIES.find((family) => family === name) ?? 'unknown';

function versionOf(major: string | undefined, minor: string | undefined): number {
  return Number(major) * 100 + Number(minor ?? 0);
}
