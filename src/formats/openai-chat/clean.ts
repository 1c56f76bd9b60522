import type { JsonObject, Tool } from '../conversation.ts';
import type { BodyEdit, Cleaning, RequestTarget, SearchableBody } from '../format.ts';
import { isObject, objectOf } from '../json/object.ts';
import { listOf, stringOf } from '../json/read.ts';
import { LossReport } from '../losses/losses.ts';
import { isBareSearch, noComputerUse, wantsComputerUse } from '../named-tools.ts';

/** Texts that show that a body may name a tool of another provider. A body without them costs a search. */
const NAMES = ['"web_search"', '"computer_use"', '"computerUse"'];

/**
 * Models that search the web for `web_search_options` (docs/protocols/openai-chat.md#web-search-options). OpenAI refuses
 * the field for all others.
 */
const SEARCHES = /(?:^|\/)gpt-[\w.-]*-search(?:-|$)/;

export const takesWebSearch = (model: string): boolean => SEARCHES.test(model);

const source = 'gateway';

/**
 * Functions that ask for a provider's own tool, in a body for an API of the same format. A function `web_search`
 * without `parameters` becomes `web_search_options`. OpenAI itself and Azure have no other such tool, so it is lost
 * there. Any other server may know the function by its name, so it keeps the caller's bytes.
 */
export function clean(body: SearchableBody, target: RequestTarget): Cleaning | undefined {
  const searches = takesWebSearch(target.model);
  if (!searches && !target.ownApi) return undefined;
  if (!body.has('tools') || !NAMES.some((name) => body.contains(name))) return undefined;
  const tools = listOf(body.value('tools'));
  if (!tools) return undefined;
  const losses = new LossReport();
  const kept = tools.filter((item, at) => {
    const tool = readFunction(item);
    if (!tool) return true;
    if (target.ownApi && wantsComputerUse(tool)) throw noComputerUse(`tools[${at}]`);
    if (!isBareSearch(tool)) return true;
    if (!searches) losses.dropped(`tools[${at}]`, NO_SEARCH);
    else if (tool.description !== undefined)
      losses.dropped(`tools[${at}].function.description`, 'OpenAI describes its own search');
    return false;
  });
  if (kept.length === tools.length) return undefined;
  const edits: BodyEdit[] = [{ path: ['tools'], value: kept.length > 0 ? kept : undefined, source }];
  if (searches && !body.has('web_search_options')) edits.push({ path: ['web_search_options'], value: {}, source });
  for (const path of staleFields(body, kept.length === 0)) {
    edits.push({ path: [path], value: undefined, source });
    if (body.value(path) !== 'auto') losses.dropped(path, 'the search is not among the tools of this API');
  }
  return { edits, losses: losses.list() };
}

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

function readFunction(item: unknown): Tool | undefined {
  const fn = isObject(item) && item.type === 'function' ? objectOf(item.function) : undefined;
  const name = fn && stringOf(fn.name);
  if (!fn || name === undefined) return undefined;
  const parameters: JsonObject | undefined = fn.parameters === undefined ? undefined : (objectOf(fn.parameters) ?? {});
  const described = typeof fn.description === 'string' ? { description: fn.description } : {};
  return { type: 'function', name, ...described, ...(parameters && fn.parameters !== null && { parameters }) };
}
