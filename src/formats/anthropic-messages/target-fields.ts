import { TOOLSET } from './decode-mcp.ts';
import { objectOf, listOf, stringOf } from '../json/object.ts';

/** claude: Anthropic's own API. vertex: Claude on Vertex AI. other: a model of another vendor. */
type FieldTarget = 'claude' | 'vertex' | 'other';

/**
 * send: the target has it. map: the target has another form of it. beta: sent with one of the field's betas, else as drop. drop:
 * left out, and reported as a loss. refuse: a 400, because the request would mean something else without it.
 */
type FieldAction = 'send' | 'map' | 'beta' | 'drop' | 'refuse';

export interface TargetField {
  /** A path below the body. `[]` stands for every item of a list. */
  readonly field: string;
  /** The paths of a field that stands in several places. */
  readonly places?: readonly string[];
  readonly at: Readonly<Record<FieldTarget, FieldAction>>;
  /** Betas of the field: one is enough. Sources: docs/protocols/anthropic-messages.md#betas-of-fields. */
  readonly betas?: readonly string[];
  /** The betas of one value, in place of `betas`: all of them are necessary. */
  readonly betasOf?: (value: unknown) => readonly string[];
  /** The vendor's code of the refusal, by which clients recover. Default: the gateway's. */
  readonly code?: string;
  /** A value of a dropped field that is refused all the same. */
  readonly refuses?: (value: unknown) => boolean;
  /** A value that means the same as no field: dropped without a report. */
  readonly isDefault?: (value: unknown) => boolean;
  /** Vertex AI has the field where the entry says so (docs/protocols/vertex-ai.md#structured-outputs). */
  readonly structuredOutputs?: true;
  /** The type of tools that a target refuses without the field: they are dropped with it. */
  readonly tools?: string;
}

const WITH_BETA = { claude: 'send', vertex: 'beta', other: 'drop' } as const;
const CLAUDE_ONLY = { claude: 'send', vertex: 'refuse', other: 'refuse' } as const;
/** A schema for the answer: a tool that Claude has to call stands for it on Vertex AI (docs/protocols/vertex-ai.md#claude-features-not-served). */
const SCHEMA = { claude: 'send', vertex: 'map', other: 'map' } as const;
/** Where an answer may be made. A target elsewhere would break a promise. */
const PLACE = { claude: 'send', vertex: 'refuse', other: 'refuse' } as const;

const COMPACT = 'compact-2026-01-12';
const CONTEXT_MANAGEMENT = 'context-management-2025-06-27';
const ADVANCED_TOOLS = 'advanced-tool-use-2025-11-20';

/** Where a cache marker may stand (docs/protocols/anthropic-messages.md#cache-control). */
const MARKED = ['', 'system[].', 'tools[].', 'messages[].content[].', 'messages[].content[].content[].'];

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
    at: WITH_BETA,
    betasOf: (value) => [...new Set(editsOf(value).map((type) => (isCompact(type) ? COMPACT : CONTEXT_MANAGEMENT)))],
    refuses: (value) => editsOf(value).some(isCompact),
  },
  // Only Anthropic's own API has it: elsewhere the endpoint decides (https://platform.claude.com/docs/en/build-with-claude/data-residency).
  { field: 'inference_geo', at: PLACE, isDefault: (value) => value === 'global' },
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
  // Only OpenAI's Responses API has a form of them (docs/protocols/openai-responses.md#mcp-servers).
  { field: 'mcp_servers', at: { claude: 'send', vertex: 'drop', other: 'map' }, tools: TOOLSET },
  {
    field: 'tools[].defer_loading',
    at: WITH_BETA,
    betas: ['tool-search-tool-2025-10-19', ADVANCED_TOOLS],
    isDefault: (value) => value === false,
  },
  { field: 'tools[].input_examples', at: WITH_BETA, betas: ['tool-examples-2025-10-29', ADVANCED_TOOLS] },
  { field: 'tools[].allowed_callers', at: WITH_BETA, betas: [ADVANCED_TOOLS], isDefault: callsDirectly },
  {
    field: 'tools[].eager_input_streaming',
    at: WITH_BETA,
    betas: ['fine-grained-tool-streaming-2025-05-14'],
    isDefault: (value) => value === false,
  },
  // docs/protocols/vertex-ai.md#claude-features-not-served
  {
    field: 'tools[].strict',
    at: { claude: 'send', vertex: 'drop', other: 'map' },
    isDefault: (value) => value === false,
    structuredOutputs: true,
  },
  { field: 'output_config.format', at: SCHEMA, structuredOutputs: true },
  { field: 'output_format', at: SCHEMA, structuredOutputs: true },
  {
    field: 'cache_control.scope',
    places: MARKED.map((parent) => `${parent}cache_control.scope`),
    at: WITH_BETA,
    betas: ['prompt-caching-scope-2026-01-05'],
  },
  // The Messages API allows 256 characters and OpenAI's 64: a longer one is hashed.
  { field: 'metadata.user_id', at: { claude: 'send', vertex: 'send', other: 'map' } },
];

/** `self` is the default: the account of the credential pays. */
function billsAnother(value: unknown): boolean {
  return (stringOf(objectOf(value)?.bill_to) ?? 'self') !== 'self';
}

/**
 * The types of the edits; a list without edits has one of no type. An edit that compacts replaces earlier messages: without it the
 * request may not fit. Other edits only save tokens.
 */
function editsOf(value: unknown): readonly string[] {
  const edits = listOf(objectOf(value)?.edits) ?? [];
  return edits.length === 0 ? [''] : edits.map((edit) => stringOf(objectOf(edit)?.type) ?? '');
}

function isCompact(type: string): boolean {
  return type.startsWith('compact');
}

function callsDirectly(value: unknown): boolean {
  const callers = listOf(value);
  return callers?.length === 1 && callers[0] === 'direct';
}
