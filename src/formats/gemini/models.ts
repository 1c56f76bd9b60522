/**
 * The differences between the generations of Gemini, in one table (docs/protocols/gemini.md#thinking-config,
 * docs/protocols/gemini.md#generation-config, docs/protocols/gemini.md#tool-config). The first match wins. A model
 * without a row has only the features of the oldest generations: settings of its thinking are a reported loss.
 */

export type ThinkingLevel = 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH';

export type ThinkingControl =
  | {
      readonly by: 'budget';
      /** Smallest and largest budget that is not "off" or "automatic". */
      readonly min: number;
      readonly max: number;
      /** Budget that comes closest to no thinking: 0 for a model that can stop thinking. */
      readonly off: number;
      /** The model thinks only if a request asks for it. */
      readonly onRequest?: true;
    }
  | { readonly by: 'level'; readonly levels: readonly ThinkingLevel[] };

export interface ModelTraits {
  readonly thinking?: ThinkingControl;
  /** Gemini 3 refuses presence and frequency penalties. */
  readonly penalties: boolean;
  /** Function calling mode VALIDATED exists from 2.5 on. */
  readonly validatedCalls: boolean;
  /**
   * Generation 3 and later: answers 400 when the first call of a model turn has no thought signature
   * (docs/protocols/gemini.md#missing-signature), and accepts a resolution per media part.
   */
  readonly third: boolean;
  /** Takes media inside function responses: generation 3, and the computer-use model, which returns screenshots. */
  readonly mediaInResponses: boolean;
  /** Gemma has none: its system text precedes user text (docs/protocols/requests.md#system-text-for-gemini). */
  readonly system: boolean;
}

const old: ModelTraits = {
  penalties: true,
  validatedCalls: false,
  third: false,
  mediaInResponses: false,
  system: true,
};
const second: ModelTraits = { ...old, validatedCalls: true };
const third: ModelTraits = {
  penalties: false,
  validatedCalls: true,
  third: true,
  mediaInResponses: true,
  system: true,
};

const budget = (min: number, max: number, off: number) => ({ by: 'budget', min, max, off }) as const;
const level = (...levels: ThinkingLevel[]): ThinkingControl => ({ by: 'level', levels });

const MODELS: readonly (readonly [RegExp, ModelTraits])[] = [
  [/gemma/, { ...old, system: false }],
  [/gemini-(?:[a-z]+-)*1(?:\.\d+)?(?!\d)/, old],
  [/gemini-(?:[a-z]+-)*2\.0/, old],
  // Image and speech models of this generation do not think.
  [/gemini-2\.5-.*(?:image|tts)/, second],
  // Its guide sends screenshots in `functionResponse.parts`, which other models of 2.5 do not accept.
  [/gemini-2\.5-computer-use/, { ...second, thinking: budget(1, 24576, 0), mediaInResponses: true }],
  [/gemini-(?:[a-z]+-)*2\.5-pro/, { ...second, thinking: budget(128, 32768, 128) }],
  [/gemini-(?:[a-z]+-)*2\.5-flash-lite/, { ...second, thinking: { ...budget(512, 24576, 0), onRequest: true } }],
  [/gemini-(?:[a-z]+-)*2\.5/, { ...second, thinking: budget(1, 24576, 0) }],
  [/gemini-3-pro-preview/, { ...third, thinking: level('LOW', 'HIGH') }],
  [/gemini-(?:3\.7-flash|\d+(?:\.\d+)?-pro|pro-latest)/, { ...third, thinking: level('LOW', 'MEDIUM', 'HIGH') }],
  // Later generations, and the aliases of the newest one (measured: gemini-flash-latest answered as gemini-3.6-flash).
  [/gemini-(?:[a-z]+-)*(?:\d|latest)/, { ...third, thinking: level('MINIMAL', 'LOW', 'MEDIUM', 'HIGH') }],
];

export function traitsOf(model: string): ModelTraits {
  const name = model.toLowerCase();
  return MODELS.find(([pattern]) => pattern.test(name))?.[1] ?? old;
}

/** The efforts that differ at the model (docs/protocols/requests.md#reasoning), the one to begin with first; undefined where it does not think. */
export function effortsOf(model: string): readonly string[] | undefined {
  const { thinking } = traitsOf(model);
  if (thinking === undefined) return undefined;
  if (thinking.by === 'budget') return ['medium', 'low', 'high', ...(thinking.off === 0 ? ['none'] : [])];
  const levels = thinking.levels.map((name) => name.toLowerCase());
  const first = levels.includes('medium') ? 'medium' : 'high';
  return [first, ...levels.filter((name) => name !== first)];
}
