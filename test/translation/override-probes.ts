/** The effect of each parameter of each API, written into a gateway config, at each client API and each target. */
import { TOP_LEVEL, type Probe } from './field-probes.ts';
import { GEMINI_TOP_LEVEL } from './gemini-probes.ts';
import { MESSAGES_TOP_LEVEL } from './messages-probes.ts';
import { BASES, effectOf, remembered, replace, type Effect, type Upstream } from './observe.ts';
import { isRefused, send, type Json, type Outbound } from './outbound.ts';
import { RESPONSES_TOP_LEVEL } from './responses-probes.ts';

/** Fields with the content of a request, and fields that Gemini's API has in its path. */
const NO_PARAMETERS = new Set(['model', 'messages', 'input', 'contents', 'stream']);

export const DOORS = ['chat', 'messages', 'responses', 'gemini'] as const;
export type Door = (typeof DOORS)[number];

const APIS: Readonly<Record<Door, readonly Probe[]>> = {
  chat: [
    ...TOP_LEVEL,
    {
      field: 'thinking',
      path: ['thinking'],
      request: { thinking: { budget_tokens: 0 } },
      value: 'budget_tokens: 0',
    },
  ],
  messages: MESSAGES_TOP_LEVEL,
  responses: RESPONSES_TOP_LEVEL,
  gemini: GEMINI_TOP_LEVEL,
};

/** Every parameter of the page, by the API that it is written for. */
export const PARAMETERS = DOORS.map((api) => ({
  api,
  probes: APIS[api].filter(({ field }) => !NO_PARAMETERS.has(field)),
}));

export interface Target extends Upstream {
  readonly name: string;
}

export const TARGETS: readonly Target[] = [
  { name: 'Gemini on Vertex AI', family: 'vertex', model: 'gemini-2.5-flash' },
  { name: 'Google AI Studio', family: 'studio', model: 'gemini-2.5-flash' },
  { name: 'Claude', family: 'anthropic', model: 'claude-sonnet-4-5' },
  { name: 'Claude on Vertex AI', family: 'vertex', model: 'anthropic.claude-sonnet-4-5' },
  { name: 'OpenAI chat', family: 'openai', model: 'gpt-5' },
  { name: 'OpenAI Responses', family: 'responses', model: 'gpt-5' },
  { name: 'compatible', family: 'compatible', model: 'any-model' },
];

export interface Cell {
  readonly effect: Effect;
  readonly sent: Outbound;
}

export const observeOverride = remembered(
  async (probe: Probe, door: Door, { family, model }: Upstream): Promise<Cell> => {
    const request = { model: `@entry/${model}`, ...BASES[door]({}) };
    const ask = (overrides: Json) => send(family, request, { client: door, overrides });
    const without = pruned(replace(probe.request, probe.path, undefined), probe.path);
    const [sent, other] = [await ask(probe.request), await ask(without)];
    if (isRefused(sent) || isRefused(other)) return { effect: { kind: 'refused' }, sent };
    return { effect: effectOf(probe, probe.request, sent, other), sent };
  },
);

/** The parameters without an object that is empty now. */
function pruned(params: Json, [key = '']: Probe['path']): Json {
  const value = params[key];
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return isEmpty && !Array.isArray(value) ? replace(params, [key], undefined) : params;
}
