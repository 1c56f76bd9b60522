/** The tools of a chat request as the AI SDK has them. */
import type { Json } from './outbound.ts';
import { marked } from './sdk-prompt.ts';
import { compact, object, objects, string, unspoken, type Call, type Family, type Tool } from './sdk-words.ts';

type ToolIds = Readonly<Record<string, `${string}.${string}`>>;
const ANTHROPICS: ToolIds = {
  web_search: 'anthropic.web_search_20250305',
  web_search_20250305: 'anthropic.web_search_20250305',
  url_context: 'anthropic.web_fetch_20250910',
  code_execution: 'anthropic.code_execution_20250825',
};
/**
 * To Gemini these names mean tools that Google runs (docs/protocols/requests.md#built-in-tools-by-name), which have ids of their own in
 * the SDK.
 */
const GOOGLES: ToolIds = {
  web_search: 'google.google_search',
  url_context: 'google.url_context',
  code_execution: 'google.code_execution',
  enterprise_web_search: 'google.enterprise_web_search',
  google_maps: 'google.google_maps',
};

/** What the providers call the tools they run. */
const PROVIDER_TOOLS: Readonly<Record<Family, ToolIds>> = {
  gemini: GOOGLES,
  claude: ANTHROPICS,
  claudeOnVertex: ANTHROPICS,
  llama: {},
  openai: {},
};

export function toolsOf(request: Json, family: Family): Tool[] | undefined {
  const functions = objects(request['functions']).map((fn) => ({ type: 'function', function: fn }));
  const tools = [...objects(request['tools']), ...functions].map((tool) => toolOf(tool, family));
  const search = object(request['web_search_options']);
  if (search) tools.push(providerTool('web_search', searchArgs(search), family));
  return request['tools'] === undefined && tools.length === 0 ? undefined : tools;
}

function toolOf(tool: Json, family: Family): Tool {
  const fn = object(tool['function']);
  if (!fn) {
    const { type, name: _, max_uses: maxUses, blocked_domains: blockedDomains, ...others } = tool;
    if (type === 'custom' || Object.keys(others).length > 0) return unspoken(`tools of type ${string(type)}`);
    if (family === 'gemini' && (maxUses !== undefined || blockedDomains !== undefined)) {
      return unspoken('how Gemini searches in Anthropic’s words');
    }
    return providerTool(string(type), compact({ maxUses, blockedDomains }), family);
  }
  const name = string(fn['name']);
  if (family === 'gemini' && name in GOOGLES) return providerTool(name, object(fn['parameters']) ?? {}, family);
  if (family === 'gemini' && ['web_search_retrieval', 'computer_use'].includes(name))
    return unspoken(`the ${name} tool`);
  return compact({
    type: 'function',
    name,
    description: fn['description'],
    inputSchema: fn['parameters'] ?? { type: 'object', properties: {} },
    strict: fn['strict'],
    ...marked(tool),
  }) as Tool;
}

export function providerTool(type: string, args: Json, family: Family): Tool {
  const id = PROVIDER_TOOLS[family][type] ?? unspoken(`the ${type} tool for ${family}`);
  return { type: 'provider', id, name: type.replace(/_20\d+$/, ''), args: { ...args } };
}

function searchArgs(search: Json): Json {
  if (search['search_context_size'] !== undefined) unspoken('how much a search may bring');
  const place = object(object(search['user_location'])?.['approximate']);
  return place ? { userLocation: { type: 'approximate', ...place } } : {};
}

export function choiceOf(request: Json): Call['toolChoice'] {
  const choice = request['tool_choice'] ?? request['function_call'];
  if (choice === undefined) return undefined;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice };
  const named = object(choice)!;
  if (named['type'] === 'allowed_tools') return unspoken('a choice among some of the tools');
  const tool = object(named['function']) ?? object(named['custom']) ?? named;
  return { type: 'tool', toolName: string(tool['name']) };
}
