import type { BuiltinTool, JsonObject, Tool } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import type { BodyEdit, SearchableBody } from '../body-view.ts';
import type { RequestTarget } from '../request-target.ts';
import { isObject, objectOf, listOf, stringOf } from '../json/object.ts';
import type { LossReport } from '../losses/losses.ts';
import { brokenLimit } from '../search-limits.ts';
import { isBareSearch, noComputerUse, wantsComputerUse } from '../named-tools.ts';
import { decodeTyped } from './decode-tools.ts';
import { takes } from './extensions.ts';

/** Names and types that show that a body may name a tool of another provider. A body without them costs a search. */
const NAMES =
  /"(?:(?:enterprise_?)?web_?search(?:_retrieval)?|google_?(?:search|maps)(?:_?retrieval)?|computer_?use|url_?context|code_?execution|\w{1,64}_20\d{6})"/i;

/** Models that search for `web_search_options` (docs/protocols/openai-chat.md#web-search-options). Others refuse it. */
const SEARCHES = /(?:^|\/)gpt-[\w.-]*-search(?:-|$)/;

export const takesWebSearch = (model: string): boolean => SEARCHES.test(model);

/**
 * Tools that a provider runs, in a body for an API of the same format: by their type, or a function by its name. Web search
 * becomes `web_search_options` of a model that searches. OpenAI itself and Azure have no other such tool, so it is lost there. Any
 * other server may know the tool, so it keeps the caller's bytes. Throws RequestFault.
 */
export function cleanTools(body: SearchableBody, target: RequestTarget, report: LossReport): readonly BodyEdit[] {
  if (!body.has('tools')) return [];
  const searches = takesWebSearch(target.model);
  if ((!target.extensions && !searches) || !body.mayMatch(NAMES)) return [];
  const tools = listOf(body.value('tools'));
  if (!tools) return [];
  let options: JsonObject | undefined;
  const kept = tools.filter((item, at) => {
    const tool = readTool(item);
    const name = tool && extensionOf(tool);
    if (!tool || !name) return true;
    const place = `tools[${at}]`;
    if (takes(target, name) && !(name === 'web_search' && searches)) return true;
    const search = name === 'web_search' || (tool.type === 'builtin' && tool.kind === 'web_search');
    if (wantsComputerUse(tool)) throw noComputerUse(place);
    if (!search || !searches) report.dropped(place, search ? NO_SEARCH : NO_SUCH_TOOL);
    else options = searchOptions(tool, place, { target, report }) ?? options;
    return false;
  });
  if (kept.length === tools.length) return [];
  const edits: BodyEdit[] = [{ path: ['tools'], value: kept.length > 0 ? kept : undefined, source }];
  if (options && !body.has('web_search_options')) edits.push({ path: ['web_search_options'], value: options, source });
  for (const path of staleFields(body, kept.length === 0)) {
    edits.push({ path: [path], value: undefined, source });
    if (body.value(path) !== 'auto') report.dropped(path, 'the tool is not among the tools of this API');
  }
  return edits;
}

/** The extension that a tool belongs to. Undefined for a tool of this API. */
function extensionOf(tool: Tool): 'web_search' | 'computer_use' | 'provider_tools' | undefined {
  if (tool.type === 'builtin')
    return tool.kind === 'opaque' && tool.format === 'openai-chat' ? undefined : 'provider_tools';
  if (wantsComputerUse(tool)) return 'computer_use';
  return isBareSearch(tool) ? 'web_search' : undefined;
}

function searchOptions(tool: Tool, place: string, { target, report }: SearchPlace): JsonObject | undefined {
  if (tool.type === 'builtin') return encodeWebSearch(tool, place, { target, report });
  if (tool.type === 'function' && tool.description !== undefined)
    report.dropped(`${place}.function.description`, 'OpenAI describes its own search');
  return {};
}

interface SearchPlace {
  readonly target: Pick<RequestTarget, 'model'>;
  readonly report: LossReport;
}

/**
 * Undefined: the tool has a limit that `web_search_options` do not have. Throws RequestFault where the model searches for every request,
 * with the field or without it (docs/protocols/openai-responses.md#searches).
 */
export function encodeWebSearch(
  tool: BuiltinTool,
  path: string,
  { target, report }: SearchPlace,
): JsonObject | undefined {
  const options = tool.options ?? {};
  const broken = brokenLimit(tool.kind, options, 'openai-chat');
  if (broken !== undefined) {
    if (takesWebSearch(target.model))
      throw new RequestFault('unsupported_parameter', `This model searches for every request: ${broken}.`, path);
    return report.dropped(path, broken);
  }
  const location = options.user_location;
  const carried = new Set(['type', 'name', 'user_location']);
  for (const key of Object.keys(options)) {
    if (!carried.has(key)) report.dropped(`${path}.${key}`, 'web_search_options has no such setting.');
  }
  if (!isObject(location)) return {};
  // Anthropic's location is flat (docs/protocols/anthropic-messages.md#web-search); OpenAI's is one level down
  // (docs/protocols/openai-chat.md#web-search-options).
  const { type: _, ...approximate } = location;
  return { user_location: { type: 'approximate', approximate } };
}

const source = 'gateway';

const NO_SUCH_TOOL = 'the API of this target has no such tool run by the provider';
export const NO_SEARCH = 'this model has no web search of its own';

/** Fields that are refused without tools, or that name the search. */
function staleFields(body: SearchableBody, noTools: boolean): string[] {
  const choice = body.has('tool_choice') ? body.value('tool_choice') : undefined;
  const namesSearch = isObject(choice) && JSON.stringify(choice).includes('"web_search"');
  return [
    ...(choice !== undefined && (noTools || namesSearch) ? ['tool_choice'] : []),
    ...(noTools && body.has('parallel_tool_calls') ? ['parallel_tool_calls'] : []),
  ];
}

function readTool(item: unknown): Tool | undefined {
  if (!isObject(item) || typeof item.type !== 'string' || item.type === 'custom') return undefined;
  if (item.type !== 'function') return decodeTyped(item, item.type);
  const fn = objectOf(item.function);
  const name = fn && stringOf(fn.name);
  if (!fn || name === undefined) return undefined;
  const parameters: JsonObject | undefined = fn.parameters === undefined ? undefined : (objectOf(fn.parameters) ?? {});
  const described = typeof fn.description === 'string' ? { description: fn.description } : {};
  return { type: 'function', name, ...described, ...(parameters && fn.parameters !== null && { parameters }) };
}
