import type { JsonObject, Reasoning } from '../conversation.ts';
import type { BodyEdit, BodyView, Cleaning, SearchableBody } from '../body-view.ts';
import type { RequestTarget } from '../request-target.ts';
import { editItems, isObject, objectOf, numberOf } from '../json/object.ts';
import { refuseNumber, thinkingBudget } from '../number-ranges.ts';
import { labelHeader } from '../labels.ts';
import { LossReport } from '../losses/losses.ts';
import { THINKING_TYPES } from './decode-request.ts';
import { effortForThinking } from './efforts.ts';
import { NOT_TAKEN, REMOVED_AT_TOP_LEVEL, takes } from './extensions.ts';
import {
  cleanMessages,
  EMPTY_FIELDS,
  EMPTY_KEYS,
  NESTED_NAMES,
  withField,
  withoutEmptyFields,
  withoutMarkers,
} from './message-extensions.ts';
import { cleanTools } from './own-tools.ts';
import { REFUSED_SIGNATURE } from '../refused-signature.ts';

const source = 'gateway';
const NUMBERS = ['max_tokens', 'max_completion_tokens', 'n', 'temperature'];

/**
 * Takes out of a body of this API what the target does not have: fields of the gateway's own, and functions that ask for a tool of
 * another provider. All other bodies keep their bytes, at the cost of a search.
 */
export function clean(body: SearchableBody, target: RequestTarget): Cleaning | undefined {
  if (target.extensions?.size === 0)
    for (const name of NUMBERS) if (body.has(name)) refuseNumber(name, body.value(name));
  const report = new LossReport();
  const edits = target.extensions ? cleanFields(body, target, report) : [];
  if (!target.customTools) cleanNulls(body, edits);
  edits.push(...cleanTools(withTools(body, edits), target, report));
  const headers = target.labelHeader ? labelsOf(body, target, report) : undefined;
  return edits.length === 0 && !headers ? undefined : { edits, losses: report.list(), headers };
}

/** `cleanFields` takes labels out of the body, because the servers on Vertex AI do not have them there. */
const labelsOf = (body: SearchableBody, target: RequestTarget, report: LossReport): Cleaning['headers'] =>
  labelHeader(body.has('labels') ? objectOf(body.value('labels')) : undefined, target, report);

function cleanFields(body: SearchableBody, target: RequestTarget, report: LossReport): BodyEdit[] {
  const edits = cleanTopLevel(body, target, report);
  if (!body.mayMatch(NESTED_NAMES)) return edits;
  const change = (field: string, cleaned: readonly unknown[] | undefined): void => {
    if (cleaned) edits.push({ path: [field], value: cleaned, source });
  };
  if (body.has('messages')) change('messages', cleanMessages(body.value('messages'), target, report));
  for (const field of ['tools', 'functions'])
    if (body.has(field) && !takes(target, 'cache_control'))
      change(field, withoutMarkers(field, body.value(field), report));
  return edits;
}

/** `customTools` shows OpenAI and Azure, which write these fields themselves: their own replies need no edit. */
function cleanNulls(body: SearchableBody, edits: BodyEdit[]): void {
  if (!body.has('messages') || !body.mayMatch(EMPTY_FIELDS, EMPTY_KEYS)) return;
  const at = edits.findIndex(({ path }) => path[0] === 'messages');
  const value = withoutEmptyFields(at < 0 ? body.value('messages') : edits[at]?.value);
  if (value) edits.splice(at < 0 ? edits.length : at, at < 0 ? 0 : 1, { path: ['messages'], value, source });
}

function withTools(body: SearchableBody, edits: readonly BodyEdit[]): SearchableBody {
  const tools = edits.find(({ path }) => path[0] === 'tools');
  if (!tools) return body;
  return {
    has: (key) => body.has(key),
    value: (key) => (key === 'tools' ? tools.value : body.value(key)),
    contains: (text) => body.contains(text),
    mayMatch: (pattern, keys) => body.mayMatch(pattern, keys),
  };
}

function cleanTopLevel(body: SearchableBody, target: RequestTarget, report: LossReport): BodyEdit[] {
  const edits: BodyEdit[] = [];
  for (const name of REMOVED_AT_TOP_LEVEL) {
    if (takes(target, name) || !body.has(name)) continue;
    edits.push({ path: [name], value: undefined, source });
    const value = body.value(name);
    // A null counts as omitted (docs/protocols/requests.md#nulls).
    if (value === null) continue;
    if (name === 'thinking') edits.push(...sendAsEffort(value, body, { target, report }));
    else if (name !== 'labels' || !target.labelHeader) report.dropped(name, NOT_TAKEN);
  }
  return edits;
}

interface CleaningContext {
  readonly target: RequestTarget;
  readonly report: LossReport;
}

/** `thinking` as `reasoning_effort`. The caller's own effort stays: it is a field of this API. */
function sendAsEffort(value: unknown, body: SearchableBody, { target, report }: CleaningContext): readonly BodyEdit[] {
  const thinking = thinkingOf(value);
  const own = body.has('reasoning_effort') && body.value('reasoning_effort') !== null;
  if (!thinking || own) {
    report.dropped('thinking', own ? 'The `reasoning_effort` of the request takes precedence.' : NOT_TAKEN);
    return [];
  }
  const { effort, loss } = effortForThinking(thinking, target);
  if (loss) report.add({ ...loss, param: 'thinking' });
  return effort === undefined ? [] : [{ path: ['reasoning_effort'], value: effort, source }];
}

/** Undefined for a value that is no such setting. */
function thinkingOf(value: unknown): Reasoning['thinking'] {
  if (!isObject(value)) return undefined;
  const type = THINKING_TYPES.find((word) => word === value.type);
  const budgetTokens = thinkingBudget(numberOf(value.budget_tokens));
  return type && { type, ...(budgetTokens !== undefined && { budgetTokens }) };
}

/** Fields of a message and of a call in which servers take signatures (docs/protocols/replies.md#thought-signatures). */
const OF_MESSAGE = ['content_blocks', 'reasoning_details'];
const OF_CALL = ['extra_content', 'thought_signature', 'maker'];

/**
 * Removes the extensions that carry signatures, for a server that passes them on to their maker: another gateway, or
 * Google's endpoint of this API. The content of `content_blocks` is in `content` too.
 */
export function withoutSignatures(body: BodyView): Cleaning | undefined {
  const losses = new LossReport();
  const value = editItems(body.value('messages'), (message, at) => {
    const bare = message.role === 'assistant' ? withoutFields(message) : message;
    if (bare !== message) losses.dropped(`messages[${at}]`, REFUSED_SIGNATURE);
    return bare;
  });
  return value && { edits: [{ path: ['messages'], value, source }], losses: losses.list() };
}

/** Returns the same message when it carries no signature. */
function withoutFields(message: JsonObject): JsonObject {
  const bare = without(message, OF_MESSAGE);
  const calls = editItems(message.tool_calls, bareCall);
  return calls ? { ...bare, tool_calls: calls } : bare;
}

function bareCall(call: JsonObject): JsonObject {
  let bare = without(call, OF_CALL);
  for (const kind of ['function', 'custom']) bare = withField(bare, kind, (inner) => without(inner, OF_CALL));
  return bare;
}

function without(object: JsonObject, fields: readonly string[]): JsonObject {
  if (!fields.some((field) => object[field] !== undefined)) return object;
  return Object.fromEntries(Object.entries(object).filter(([name]) => !fields.includes(name)));
}
