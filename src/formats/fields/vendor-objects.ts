/**
 * Objects that live in the account of a vendor, by the fields of requests that name them. All keys of a catalog entry share this
 * account, so an id alone gives one key what another has stored. Fields that a format does not know travel on to some targets: every
 * row holds for the bodies of all APIs (docs/reference/fields.md#objects-of-the-vendor).
 */
export interface VendorObject {
  readonly kind: VendorObjectKind;
  /** As in the rules of a key: `**.` stands for any depth outside free maps. It covers the value itself, and the items of a list. */
  readonly path: string;
  /** The APIs that have the field. */
  readonly of: readonly VendorApi[];
  /** Texts that name such an object. Default: all, except the ids of files that the gateway stores and addresses in place of a file's id. */
  readonly ids?: RegExp;
  /** True: the field with any value, because it has objects of its own. */
  readonly whole?: true;
}

export const VENDOR_OBJECT_KINDS = [
  'files',
  'containers',
  'skills',
  'caches',
  'stores',
  'responses',
  'conversations',
  'prompts',
  'voices',
] as const;

export type VendorObjectKind = (typeof VENDOR_OBJECT_KINDS)[number];

type VendorApi = 'chat' | 'responses' | 'messages' | 'gemini' | 'images' | 'speech';

/**
 * Sources: docs/protocols/openai-chat.md#content-parts, docs/protocols/openai-responses.md#request,
 * docs/protocols/anthropic-messages.md#sources, docs/protocols/gemini.md#cached-content.
 */
export const VENDOR_OBJECTS: readonly VendorObject[] = [
  { kind: 'files', path: '**.file_id', of: ['chat', 'responses', 'messages', 'images'] },
  { kind: 'files', path: '**.file_ids', of: ['responses'] },
  // Files of Gemini's own Files API; a public address or one of Cloud Storage is no object of the account.
  { kind: 'files', path: '**.file_uri', of: ['gemini'], ids: /^(?!https?:|gs:|data:)/i },
  // `auto` is a value inside of an object: only an id is a text.
  { kind: 'containers', path: '**.container', of: ['responses', 'messages'] },
  { kind: 'containers', path: 'container.id', of: ['messages'] },
  // Code interpreter with an automatic container takes the one of an earlier call in the input.
  { kind: 'containers', path: '**.container_id', of: ['responses'] },
  // The vendors' own skills have names, such as `pptx`.
  { kind: 'skills', path: '**.skill_id', of: ['responses', 'messages'], ids: /^\s*skill_/i },
  { kind: 'caches', path: '**.cached_content', of: ['gemini'] },
  { kind: 'stores', path: '**.vector_store_ids', of: ['responses'] },
  { kind: 'stores', path: '**.file_search_store_names', of: ['gemini'] },
  // Vertex AI's grounding in data stores and corpora of the project.
  { kind: 'stores', path: '**.vertex_ai_search', of: ['gemini'], whole: true },
  { kind: 'stores', path: '**.vertex_rag_store', of: ['gemini'], whole: true },
  // Azure OpenAI On Your Data.
  { kind: 'stores', path: '**.data_sources', of: ['chat'], whole: true },
  { kind: 'responses', path: '**.previous_response_id', of: ['responses'] },
  // Audio answers of chat.
  { kind: 'responses', path: 'messages[].audio.id', of: ['chat'] },
  { kind: 'conversations', path: 'conversation', of: ['responses'] },
  { kind: 'conversations', path: 'conversation.id', of: ['responses'] },
  { kind: 'conversations', path: 'thread', of: ['messages'] },
  { kind: 'conversations', path: 'thread.id', of: ['messages'] },
  { kind: 'prompts', path: 'prompt.id', of: ['responses'] },
  { kind: 'voices', path: 'audio.voice.id', of: ['chat'] },
  { kind: 'voices', path: 'voice.id', of: ['speech'] },
];

/** `file-gh` and a UUID of version 7: sorted by time, told apart from a vendor's, 74 bits that cannot be guessed. */
export const STORED_FILE_ID = /^file-gh([0-9a-f]{12})[0-9a-f]{20}$/;

/** Whether the text in a row's field names an object of the vendor. */
export function namesVendorObject({ kind, ids }: VendorObject, text: string): boolean {
  if (text.trim() === '') return false;
  if (kind === 'files' && isNoVendorFile(text.trim().replace(/^files\//, ''))) return false;
  return ids === undefined || ids.test(text);
}

/** Some parts take an address in place of an id; Google's own are found by `namesGoogleFile`. */
const isNoVendorFile = (id: string): boolean => STORED_FILE_ID.test(id) || /^(?:https?|gs|data):/i.test(id);

/**
 * Whether a text is the address of a file of Gemini's Files API, in any field with an address: callers of other APIs write it into
 * `image_url.url`, which becomes `fileData.fileUri`. Servers decode `%2F` and `%66` in a path (RFC 3986, section 2.4).
 */
export const namesGoogleFile = (text: string): boolean =>
  GOOGLE_FILE.test(text.includes('%') ? text.replaceAll(ESCAPED_ASCII, unescaped) : text);

const GOOGLE_FILE =
  /^\s*https?:\/\/[^/]{0,200}generativelanguage[^/]{0,40}\.googleapis\.com\.?(?::\d+)?\/(?:[^?#]*\/)?files\/(?!file-gh[0-9a-f]{32}$)/i;
const ESCAPED_ASCII = /%([0-7][0-9a-f])/gi;
const unescaped = (_: string, hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));
