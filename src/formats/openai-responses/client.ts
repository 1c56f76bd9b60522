import { pathsBy } from '../losses/places.ts';
import type { Conversation, JsonObject, Loss } from '../conversation.ts';
import type { BodyView } from '../body-view.ts';
import type { ClientContext, ClientOptions, ClientSettings, RequestEcho } from '../format.ts';
import { isObject } from '../json/object.ts';
import { endsWithTrigger } from './compaction-item.ts';
import { echoedTools } from './portable.ts';

/**
 * A client that asks for summaries sees the model's thoughts. One that asks for encrypted content needs them for its next request. The
 * compliance header concerns the fields of the chat API and changes nothing here.
 */
export function readClient(body: BodyView, { id }: ClientSettings): ClientOptions {
  const summarized = asksForSummary(body);
  return {
    id: `resp_${id}`,
    strict: !summarized && !includesEncrypted(body),
    hideThoughts: !summarized,
    ownId: true,
    includeUsage: true,
  };
}

function asksForSummary(body: BodyView): boolean {
  const reasoning = body.has('reasoning') ? body.value('reasoning') : undefined;
  return isObject(reasoning) && typeof (reasoning.summary ?? reasoning.generate_summary) === 'string';
}

function includesEncrypted(body: BodyView): boolean {
  const include = body.has('include') ? body.value('include') : undefined;
  return Array.isArray(include) && include.includes('reasoning.encrypted_content');
}

/** A caller who asks the gateway to keep the response learns that it does not: the reply says `store: false`. */
export function unshown(body: BodyView, { stored }: ClientContext): readonly Loss[] {
  const isLost = stored !== true && body.has('store') && body.value('store') === true;
  return isLost ? [{ param: 'store', action: 'dropped', reason: 'the gateway does not keep this response' }] : [];
}

/** Fields that a response repeats from its request, as the caller wrote them. */
const REPEATED: ReadonlySet<string> = new Set([
  'instructions',
  'previous_response_id',
  'tools',
  'tool_choice',
  'truncation',
  'parallel_tool_calls',
  'text',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'top_logprobs',
  'temperature',
  'reasoning',
  'max_output_tokens',
  'max_tool_calls',
  'service_tier',
  'metadata',
  'safety_identifier',
  'prompt_cache_key',
  'user',
]);

export function echo(body: JsonObject, { tools = [] }: Conversation): RequestEcho {
  const fields: JsonObject = {};
  for (const name of Object.keys(body)) if (REPEATED.has(name)) fields[name] = body[name];
  return { fields, tools: echoedTools(tools), ...(endsWithTrigger(body) && { summarizes: true }) };
}

/** Fields that this API names differently from OpenAI's chat API, whose names losses use. */
export const clientPaths = pathsBy([
  [/^max_tokens$/, 'max_output_tokens'],
  [/^user$/, 'safety_identifier', 'user'],
  [/^reasoning_effort$/, 'reasoning.effort'],
  [/^thinking$/, 'reasoning'],
  [/^verbosity$/, 'text.verbosity'],
  [/^logprobs$/, 'top_logprobs'],
  [/^response_format\.json_schema/, 'text.format'],
  [/^response_format/, 'text.format'],
  [/^(tools\[\d+\]|input\[\d+\]\.tools\[\d+\])((?:\.tools\[\d+\])?)\.(?:function|custom)\./, '$1$2.'],
  [/^(input\[.*?)\.(?:file\.)?filename$/, '$1.filename'],
  [/^(input\[.*)\.image_url\.detail$/, '$1.detail'],
  [/^(input\[.*)\.function\.arguments$/, '$1.arguments', '$1.input'],
  [/^(input\[.*)\.function\.thought_signature$/, '$1'],
]);
