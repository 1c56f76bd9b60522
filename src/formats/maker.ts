/** The family of models that made a signature. `other`: one that is no target of this gateway. */
export type Maker = 'claude' | 'gemini' | 'openai' | 'other';

/** A part that its maker may have signed. */
export interface Signed {
  readonly signature?: string;
  /** Set where the kind of the part does not show the maker. */
  readonly maker?: Maker;
}

/** A part, or what decides about its signature. */
interface Made {
  /** The type of the part. */
  readonly type: string;
  readonly maker?: Maker;
}

/**
 * The only maker that accepts the signature of this part (docs/protocols/replies.md#foreign-signatures). A signature
 * does not name its maker. Without a tag, the kind of the part decides: Claude signs thinking alone, and Gemini needs
 * only the signatures of its calls, texts and media.
 */
export function makerOf({ type, maker }: Made): Maker {
  return maker ?? usualMaker(type);
}

/** The tag of a signature whose maker the kind of the part does not show. Most signatures need none. */
export function tagOf({ type, maker }: Made): { readonly maker?: Maker } {
  return maker === undefined || maker === usualMaker(type) ? {} : { maker };
}

function usualMaker(type: string): Maker {
  return type === 'thinking' || type === 'redacted_thinking' ? 'claude' : 'gemini';
}

/** Reads a tag that a client or another gateway wrote. */
export function readMaker(tag: string | undefined): { readonly maker?: Maker } {
  if (tag === undefined) return {};
  return { maker: tag === 'claude' || tag === 'gemini' || tag === 'openai' ? tag : 'other' };
}
