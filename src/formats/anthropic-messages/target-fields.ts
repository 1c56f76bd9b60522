import { isObject, objectOf } from '../json/object.ts';
import { listOf, stringOf } from '../json/read.ts';

/** claude: Anthropic's own API. vertex: Claude on Vertex AI. other: a model of another vendor. */
type FieldTarget = 'claude' | 'vertex' | 'other';

/**
 * send: the target has it. map: the target has another form of it. beta: sent with one of the field's betas, else as drop. drop:
 * left out, and reported as a loss. refuse: a 400, because the request would mean something else without it.
 */
type FieldAction = 'send' | 'map' | 'beta' | 'drop' | 'refuse';

export interface TargetField {
  /** Top-level field, or `tools[].NAME`. */
  readonly field: string;
  readonly at: Readonly<Record<FieldTarget, FieldAction>>;
  /** The betas that the field comes with, as the target takes them. */
  readonly betas?: readonly string[];
  /** The vendor's code of the refusal, by which clients recover. Default: the gateway's. */
  readonly code?: string;
  /** A value of a dropped field that is refused all the same. */
  readonly refuses?: (value: unknown) => boolean;
}

const WITH_BETA = { claude: 'send', vertex: 'beta', other: 'drop' } as const;
const CLAUDE_ONLY = { claude: 'send', vertex: 'refuse', other: 'refuse' } as const;

/**
 * Fields of the Messages API that not every target has, beside those that the conversation model translates
 * (docs/protocols/messages-route.md#fields-by-target). The one table of what becomes of them.
 */
export const TARGET_FIELDS: readonly TargetField[] = [
  // Anthropic keeps the earlier messages of a thread: without it the request has only the last one. SDKs send all of them
  // after this code.
  { field: 'thread', at: CLAUDE_ONLY, code: 'thread_unsupported_request' },
  { field: 'safeguards', at: CLAUDE_ONLY },
  { field: 'container', at: CLAUDE_ONLY },
  // The reply has a summary of the conversation in place of an answer.
  { field: 'compaction', at: CLAUDE_ONLY },
  {
    field: 'context_management',
    at: { claude: 'send', vertex: 'beta', other: 'drop' },
    betas: ['context-management-2025-06-27', 'compact-2026-01-12'],
    refuses: compacts,
  },
  // Only Anthropic's own API has it: elsewhere the endpoint decides (https://platform.claude.com/docs/en/build-with-claude/data-residency).
  { field: 'inference_geo', at: { claude: 'send', vertex: 'drop', other: 'drop' } },
  { field: 'speed', at: WITH_BETA, betas: ['fast-mode-2026-02-01'] },
  { field: 'fallbacks', at: WITH_BETA, betas: ['server-side-fallback-2026-06-01', 'server-side-fallback-2026-07-01'] },
  {
    field: 'fallback_credit_token',
    at: WITH_BETA,
    betas: ['fallback-credit-2026-06-01', 'fallback-credit-2026-07-01'],
  },
  { field: 'diagnostics', at: WITH_BETA, betas: ['cache-diagnosis-2026-04-07'] },
  { field: 'billing_policy', at: { claude: 'send', vertex: 'drop', other: 'drop' }, refuses: billsAnother },
  { field: 'tags', at: { claude: 'send', vertex: 'drop', other: 'drop' } },
  { field: 'mcp_servers', at: { claude: 'send', vertex: 'drop', other: 'drop' } },
  {
    field: 'tools[].defer_loading',
    at: { claude: 'send', vertex: 'beta', other: 'drop' },
    betas: ['tool-search-tool-2025-10-19', 'advanced-tool-use-2025-11-20'],
  },
  // The Messages API allows 256 characters and OpenAI's 64: a longer one is hashed.
  { field: 'metadata.user_id', at: { claude: 'send', vertex: 'send', other: 'map' } },
];

/** `self` is the default: the account of the credential pays. */
function billsAnother(value: unknown): boolean {
  return (stringOf(objectOf(value)?.bill_to) ?? 'self') !== 'self';
}

/** An edit that compacts replaces earlier messages: without it the request may not fit. Other edits only save tokens. */
function compacts(value: unknown): boolean {
  const edits = listOf(objectOf(value)?.edits) ?? [];
  return edits.some((edit) => isObject(edit) && stringOf(edit.type)?.startsWith('compact') === true);
}
