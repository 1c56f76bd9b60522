import type { Call } from '../upstream/ask.ts';

/** What a caller wants of one conversation, in the words of no SDK. */
export interface Wish {
  readonly model: string;
  readonly question: string;
  readonly stream?: boolean;
  /** With the tool of `words.ts`, called and answered until the model has no more calls. */
  readonly tools?: boolean;
  /** With thinking on; what the model thought goes back as far as the SDK keeps it. */
  readonly thinking?: boolean;
  /** Answered in `reportSchema`. */
  readonly report?: boolean;
  readonly image?: boolean;
  readonly signal?: AbortSignal;
  /** Told as soon as the first text is there. */
  readonly onText?: () => void;
}

/** What it came to. */
export interface Outcome {
  readonly text: string;
  readonly thoughts: string;
  readonly calls: readonly Call[];
  readonly finish: string | undefined;
  readonly usage: { readonly input: number | undefined; readonly output: number | undefined };
}

/** An error as the SDK shows it. */
export interface Trouble {
  /** Name of the SDK's class. */
  readonly name: string;
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly message: string;
  readonly requestId: string | undefined;
  readonly retryAfter: string | undefined;
}

export interface Place {
  readonly baseUrl: string;
  readonly key: string;
}

/** What not every client can do. */
export type Feature =
  | 'thoughts'
  | 'usage of streams'
  | 'embeddings'
  | 'images'
  | 'token counts'
  | 'leaving before a reply';

export interface Driver {
  readonly name: string;
  readonly route: 'chat' | 'messages';
  /** How it calls the end of an answer. */
  readonly done: 'stop' | 'end_turn';
  /** Why the client cannot do it: the cell is left out. */
  readonly lacks: Readonly<Partial<Record<Feature, string>>>;
  converse(place: Place, wish: Wish): Promise<Outcome>;
  trouble(error: unknown): Trouble;
  embed?(place: Place, model: string, texts: readonly string[]): Promise<readonly (readonly number[])[]>;
  /** Base64 of the images. */
  paint?(place: Place, model: string, count: number): Promise<readonly string[]>;
  count?(place: Place, model: string, question: string): Promise<number>;
}

/** Reasons why SDKs for OpenAI's API, and for Anthropic's, lack a method. */
export const NO_COUNTS = { 'token counts': 'OpenAI has none' };
export const ONLY_MESSAGES = { embeddings: 'Anthropic has none', images: 'Anthropic has none' };

/** Enough for every budget of thinking. */
export const MAX_TOKENS = 8000;
export const MAX_ROUNDS = 3;
