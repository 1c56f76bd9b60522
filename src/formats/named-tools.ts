import type { FunctionTool, JsonObject, Tool } from './conversation.ts';
import { COMPUTER_USE_NAMES, isComputerUse } from './open-actions.ts';
import { RequestFault } from './faults.ts';

/** Functions whose name asks for a provider's own tool (docs/protocols/requests.md#built-in-tools-by-name). */
const WEB_SEARCH = 'web_search';

/** A function `web_search` without `parameters` is the provider's own search. At Gemini it always is. */
export function isBareSearch(tool: Tool): tool is FunctionTool {
  return tool.type === 'function' && tool.name === WEB_SEARCH && tool.parameters === undefined;
}

/** True for computer use: by its type, also with options that only Google has, or a function of its name with its options. */
export function wantsComputerUse(tool: Tool): boolean {
  if (tool.type === 'builtin') return isComputerUse(tool);
  return tool.type === 'function' && COMPUTER_USE_NAMES.includes(tool.name) && hasOptions(tool.parameters);
}

/** The options of Google's tool are no JSON Schema: a function of the caller has properties. */
function hasOptions(parameters: JsonObject | undefined): boolean {
  return (
    parameters !== undefined && Object.hasOwn(parameters, 'environment') && !Object.hasOwn(parameters, 'properties')
  );
}

/** The refusal of computer use by a target without it: an answer that sees no browser would look like success. */
export function noComputerUse(param: string): RequestFault {
  const words =
    'this target has no computer use: send the request to a Gemini model made for it (a computer-use preview), with ' +
    'the header x-gateway-strict-open-ai-compliance: false';
  return new RequestFault('unsupported_parameter', `\`${param}\`: ${words}.`, param);
}
