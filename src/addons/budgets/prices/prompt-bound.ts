export interface PromptMedium {
  readonly kind: 'image' | 'audio' | 'video' | 'document';
  /** Of the medium itself, not of its base64; undefined: the provider reads it at an address. */
  readonly bytes?: number | undefined;
}

/** The most tokens of a prompt, by kind. */
export interface PromptTokens {
  readonly text: number;
  readonly audio: number;
  readonly image: number;
  readonly all: number;
}

export interface Prompt {
  readonly textBytes: number;
  readonly media: readonly PromptMedium[];
  /** Tokens by byte of text. */
  readonly ratio: number;
  /** The context window of the model; undefined: not known. */
  readonly window: number | undefined;
  /** The text consists of several prompts, each of which may fill the window. */
  readonly isList?: boolean | undefined;
  readonly provider: string;
  readonly model: string;
}

/** No tokenizer of the vendors makes a token of less than two bytes of ordinary text, and most make one of four. */
export const TOKENS_PER_BYTE = 1 / 2;
/** Tokens of ordinary text have about four bytes. After prompts of blanks, which have more, a key may send ordinary text. */
export const LEAST_TOKENS_PER_BYTE = 1 / 4;

/** The largest window of a model in data/models.json. */
const LARGEST_WINDOW = 2_000_000;

/**
 * The most tokens of one picture. OpenAI: 1,536 patches of up to 2.46 tokens, and 10,000 patches at `detail: original`; gpt-4o-mini has
 * 2,833 tokens and 5,667 for each of up to eight tiles. Anthropic: 4,784 at the highest resolution. Google: 2,240 (`ULTRA_HIGH`), and 258
 * for each of up to 16 tiles before Gemini 3.
 */
const OPENAI_PICTURE = 10_000;
const GPT_4O_MINI_PICTURE = 48_169;
const PICTURE = 4_784;

/** Google counts 32 tokens a second of sound, and OpenAI 10. Speech has 1,000 bytes a second or more. */
const SOUND_TOKENS_PER_BYTE = 32 / 1000;
/** Google counts up to 290 tokens a second of film (258 a frame, 32 of sound). A film has 5,000 bytes a second or more. */
const FILM_TOKENS_PER_BYTE = 290 / 5000;
/** The text of a PDF is compressed to about a quarter, and each page counts as a picture too. */
const DOCUMENT_TOKENS_PER_BYTE = 1;

/** Tokens of a prompt are no more than the window: a provider refuses a longer one. */
export function boundPrompt(prompt: Prompt): PromptTokens {
  const { textBytes, media, ratio, window = LARGEST_WINDOW, isList = false } = prompt;
  let text = Math.ceil(textBytes * ratio);
  let [audio, image] = [0, 0];
  for (const { kind, bytes } of media) {
    if (kind === 'image') image += pictureOf(prompt);
    else if (kind === 'audio') audio += tokensOf(bytes, SOUND_TOKENS_PER_BYTE, window);
    else if (kind === 'video') text += tokensOf(bytes, FILM_TOKENS_PER_BYTE, window);
    else text += tokensOf(bytes, DOCUMENT_TOKENS_PER_BYTE, window);
  }
  const most = isList ? Infinity : window;
  const bounded = (tokens: number): number => Math.min(tokens, most);
  return { text: bounded(text), audio: bounded(audio), image: bounded(image), all: bounded(text + audio + image) };
}

const tokensOf = (bytes: number | undefined, perByte: number, window: number): number =>
  bytes === undefined ? window : Math.ceil(bytes * perByte);

function pictureOf({ provider, model }: Prompt): number {
  if (provider !== 'openai' && provider !== 'azure-openai') return PICTURE;
  return model.startsWith('gpt-4o-mini') ? GPT_4O_MINI_PICTURE : OPENAI_PICTURE;
}
