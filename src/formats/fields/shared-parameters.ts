import { toSnake } from '../json/field-names.ts';

/** The APIs whose requests ask a model for an answer. */
type AnswerApi = 'chat' | 'completions' | 'responses' | 'messages' | 'gemini';

/** One parameter that several APIs have under names of their own. */
interface SharedParameter {
  /** By the API. The first name is the one that a config sets; others are older names, and fields that mean a part of it. */
  readonly names: Readonly<Partial<Record<AnswerApi, readonly string[]>>>;
  /**
   * same, list: the value has the same form in all APIs, so a config sets it under any name; a text becomes a list of it where the API
   * has a list. own: each API has a form of its own. Rules and deletions alone apply to all names then.
   */
  readonly value: 'same' | 'list' | 'own';
}

const SAMPLING = (chat: string, gemini: string, others: readonly AnswerApi[]): SharedParameter => ({
  names: { chat: [chat], ...Object.fromEntries(others.map((api) => [api, [chat]])), gemini: [gemini] },
  value: 'same',
});

/**
 * The names of parameters in all APIs. `override_params`, `default_params`, `drop_params` and the field rules of keys and entries hold for
 * a parameter in requests of every API, whichever name they write (docs/protocols/openai-chat.md#request-fields,
 * docs/protocols/openai-responses.md#request, docs/protocols/anthropic-messages.md#request-fields, docs/protocols/gemini.md#request-body).
 */
const SHARED_PARAMETERS: readonly SharedParameter[] = [
  {
    names: {
      chat: ['max_tokens', 'max_completion_tokens'],
      completions: ['max_tokens'],
      responses: ['max_output_tokens'],
      messages: ['max_tokens'],
      gemini: ['generationConfig.maxOutputTokens'],
    },
    value: 'same',
  },
  SAMPLING('temperature', 'generationConfig.temperature', ['completions', 'responses', 'messages']),
  SAMPLING('top_p', 'generationConfig.topP', ['completions', 'responses', 'messages']),
  SAMPLING('top_k', 'generationConfig.topK', ['messages']),
  SAMPLING('n', 'generationConfig.candidateCount', ['completions']),
  SAMPLING('seed', 'generationConfig.seed', ['completions']),
  SAMPLING('frequency_penalty', 'generationConfig.frequencyPenalty', ['completions']),
  SAMPLING('presence_penalty', 'generationConfig.presencePenalty', ['completions']),
  {
    names: {
      chat: ['stop'],
      completions: ['stop'],
      messages: ['stop_sequences'],
      gemini: ['generationConfig.stopSequences'],
    },
    value: 'list',
  },
  {
    names: {
      chat: ['tools', 'functions'],
      responses: ['tools', 'input[].tools'],
      messages: ['tools'],
      gemini: ['tools'],
    },
    value: 'own',
  },
  {
    names: {
      chat: ['response_format'],
      responses: ['text.format'],
      messages: ['output_config.format', 'output_format'],
      gemini: [
        'generationConfig.responseSchema',
        'generationConfig.responseJsonSchema',
        'generationConfig.responseMimeType',
      ],
    },
    value: 'own',
  },
];

/** Each row's names, in all APIs. */
export const SHARED_NAMES: readonly (readonly string[])[] = SHARED_PARAMETERS.map(({ names }) => [
  ...new Set(Object.values(names).flat()),
]);

/** A name of such a parameter, as bodies of one API see it. */
export interface SharedName {
  /** The name in this API, for a config that writes another one. Undefined: the API has none, or a value of another form. */
  readonly own: readonly string[] | undefined;
  /** The API has a list where others may have a text. */
  readonly isList: boolean;
  /** All other names, in any API, without those inside lists. */
  readonly others: readonly (readonly string[])[];
  /** Setting one name replaces the others. Deleting one deletes them in any case. */
  readonly isSettable: boolean;
}

/** APIs that take one text where the others take a list of texts. */
const TAKES_TEXT: ReadonlySet<AnswerApi> = new Set(['chat', 'completions']);

/** The names of all such parameters for bodies of one API, by their keys in snake_case. */
export function sharedNames(api: AnswerApi): ReadonlyMap<string, SharedName> {
  const byName = new Map<string, SharedName>();
  for (const [row, { names, value }] of SHARED_PARAMETERS.entries()) {
    const paths = SHARED_NAMES[row]!.filter((name) => !name.includes('[]'));
    const own = names[api] ?? [];
    for (const name of paths) {
      byName.set(keysOf(name).map(toSnake).join('.'), {
        own: value === 'own' ? undefined : keysOf(own.includes(name) ? name : own[0]),
        isList: value === 'list' && !TAKES_TEXT.has(api),
        others: paths.filter((other) => other !== name).map((other) => keysOf(other)),
        isSettable: value !== 'own',
      });
    }
  }
  return byName;
}

function keysOf(name: string): readonly string[];
function keysOf(name: string | undefined): readonly string[] | undefined;
function keysOf(name: string | undefined): readonly string[] | undefined {
  return name?.split('.');
}
