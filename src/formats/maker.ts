/**
 * The family of models that made a signature. `other`: one that is no target of this gateway. OpenAI's are valid in one
 * account (docs/protocols/openai-responses.md#encrypted-content): its scope is in the name where it is known. `chat-…` is one
 * catalog entry with the chat API (openai-chat/returned-thoughts.ts).
 */
export type Maker = 'claude' | 'gemini' | 'openai' | `openai-${string}` | `chat-${string}` | 'other';

export const openAiMaker = (scope: string | undefined): Maker => (scope === undefined ? 'openai' : `openai-${scope}`);

export const chatMaker = (scope: string): Maker => `chat-${scope}`;

export const isOpenAi = (maker: Maker | undefined): boolean =>
  maker === 'openai' || maker?.startsWith(OPENAI_ACCOUNT) === true;

/** Whether the account of this scope may get a signature of this maker: one of an unknown account may be its own. */
export const isOfScope = (maker: Maker | undefined, scope: string | undefined): boolean =>
  scope === undefined ? isOpenAi(maker) : maker === 'openai' || maker === openAiMaker(scope);

/** Reason of a loss. */
export const OTHER_ACCOUNT = 'the reasoning of another account';

const OPENAI_ACCOUNT = 'openai-';
const CHAT_SERVER = 'chat-';

/** A part that its maker may have signed. */
export interface Signed {
  readonly signature?: string;
  /** Set where the kind of the part does not show the maker. */
  readonly maker?: Maker;
}

/** A part, or what decides about its signature. */
interface PartOfMaker {
  /** The type of the part. */
  readonly type: string;
  readonly maker?: Maker;
}

/**
 * The only maker that accepts the signature of this part (docs/protocols/replies.md#foreign-signatures). A signature
 * does not name its maker. Without a tag, the kind of the part decides: Claude signs thinking alone, and Gemini needs
 * only the signatures of its calls, texts and media.
 */
export function makerOf({ type, maker }: PartOfMaker): Maker {
  return maker ?? usualMaker(type);
}

/** The tag of a signature whose maker the kind of the part does not show. Most signatures need none. */
export function tagOf({ type, maker }: PartOfMaker): { readonly maker?: Maker } {
  return maker === undefined || maker === usualMaker(type) ? {} : { maker };
}

function usualMaker(type: string): Maker {
  return type === 'thinking' || type === 'redacted_thinking' ? 'claude' : 'gemini';
}

/** Reads a tag that a client or another gateway wrote. */
export function readMaker(tag: string | undefined): { readonly maker?: Maker } {
  if (tag === undefined) return {};
  if (tag === 'claude' || tag === 'gemini' || tag === 'openai') return { maker: tag };
  if (tag.startsWith(CHAT_SERVER)) return { maker: chatMaker(tag.slice(CHAT_SERVER.length)) };
  return { maker: tag.startsWith(OPENAI_ACCOUNT) ? openAiMaker(tag.slice(OPENAI_ACCOUNT.length)) : 'other' };
}
