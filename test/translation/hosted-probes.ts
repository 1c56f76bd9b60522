/**
 * As field-probes.ts, for every tool that a provider runs, or whose type alone a client sends: those of the types of the vendors' SDKs, so
 * that a new one is a type error here.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { Tool as GoogleTool } from '@google/genai';
import type OpenAI from 'openai7';
import type { Probe } from './field-probes.ts';
import type { Client, Json } from './outbound.ts';

type Responses = Exclude<OpenAI.Responses.Tool['type'], 'function' | 'custom' | 'namespace'>;

const mcp = { server_label: 'x', server_url: 'https://mcp.example' };

const RESPONSES: Readonly<Record<Responses, Json | readonly (readonly [value: string, Json])[]>> = {
  web_search: {},
  web_search_2025_08_26: {},
  web_search_preview: {},
  web_search_preview_2025_03_11: {},
  file_search: { vector_store_ids: ['vs_1'] },
  code_interpreter: { container: { type: 'auto' } },
  image_generation: {},
  mcp: [
    ['require_approval: never', { ...mcp, require_approval: 'never' }],
    ['another require_approval', { ...mcp, require_approval: 'always' }],
    ['connector_id', { server_label: 'x', connector_id: 'connector_gmail', require_approval: 'never' }],
  ],
  computer: {},
  computer_use_preview: { display_width: 1, display_height: 1, environment: 'browser' },
  shell: {},
  local_shell: {},
  apply_patch: {},
  tool_search: { execution: 'server' },
  programmatic_tool_calling: {},
};

type Messages = NonNullable<Exclude<Anthropic.Beta.Messages.BetaToolUnion['type'], 'custom'>>;
/** Types without their dates: the tables show the newest one of each. */
type Undated<T extends string> = T extends `${infer First}_${infer Rest}`
  ? Rest extends `${number}`
    ? First
    : `${First}_${Undated<Rest>}`
  : T;

const MESSAGES: Readonly<Record<Undated<Messages>, readonly [type: Messages, options: Json]>> = {
  web_search: ['web_search_20250305', { name: 'web_search' }],
  web_fetch: ['web_fetch_20250910', { name: 'web_fetch' }],
  code_execution: ['code_execution_20250825', { name: 'code_execution' }],
  tool_search_tool_bm25: ['tool_search_tool_bm25_20251119', { name: 'tool_search_tool_bm25' }],
  tool_search_tool_regex: ['tool_search_tool_regex_20251119', { name: 'tool_search_tool_regex' }],
  advisor: ['advisor_20260301', { name: 'advisor', model: 'claude-opus-4-7' }],
  mcp_toolset: ['mcp_toolset', { mcp_server_name: 'x' }],
  bash: ['bash_20250124', { name: 'bash' }],
  text_editor: ['text_editor_20250728', { name: 'str_replace_based_edit_tool' }],
  memory: ['memory_20250818', { name: 'memory' }],
  computer: ['computer_20251124', { name: 'computer', display_width_px: 1, display_height_px: 1 }],
  computer_toolset: ['computer_toolset_20260801', { display_width_px: 1, display_height_px: 1 }],
  browser_toolset: ['browser_toolset_20260801', {}],
};

const GEMINI: Readonly<Record<Exclude<keyof GoogleTool, 'functionDeclarations'>, Json>> = {
  googleSearch: {},
  googleSearchRetrieval: {},
  enterpriseWebSearch: {},
  urlContext: {},
  googleMaps: {},
  codeExecution: {},
  fileSearch: { fileSearchStoreNames: ['fileSearchStores/x'] },
  computerUse: { environment: 'ENVIRONMENT_BROWSER' },
  mcpServers: {},
  retrieval: {},
  exaAiSearch: {},
  parallelAiSearch: {},
};

/** Beside a function, so that no request loses all of its tools. */
const probe = (client: Client, field: string, [tool, other]: readonly [Json, Json], value?: string): Probe => ({
  client,
  field,
  path: ['tools', 1],
  request: { tools: [other, tool] },
  ...(value !== undefined && { value }),
});

const FUNCTIONS = {
  responses: { type: 'function', name: 'f' },
  messages: { name: 'f', input_schema: { type: 'object' } },
  gemini: { functionDeclarations: [{ name: 'f' }] },
} as const;

export const RESPONSES_TOOLS: readonly Probe[] = Object.entries(RESPONSES).flatMap(([type, options]) =>
  Array.isArray(options)
    ? options.map(([value, one]: readonly [string, Json]) =>
        probe('responses', type, [{ type, ...one }, FUNCTIONS.responses], value),
      )
    : [probe('responses', type, [{ type, ...options }, FUNCTIONS.responses])],
);

const servers = { mcp_servers: [{ type: 'url', name: 'x', url: 'https://mcp.example' }] };

export const MESSAGES_TOOLS: readonly Probe[] = Object.entries(MESSAGES).map(([name, [type, options]]): Probe => {
  const tools: readonly [Json, Json] = [{ type, ...options }, FUNCTIONS.messages];
  // Without its server a toolset offers nothing, and without its toolset a server still does at other targets.
  if (name === 'mcp_toolset')
    return {
      client: 'messages',
      field: 'mcp_servers',
      path: ['mcp_servers'],
      request: { tools: [FUNCTIONS.messages], ...servers },
    };
  return probe('messages', `${name}_…`, tools);
});

export const GEMINI_TOOLS: readonly Probe[] = Object.entries(GEMINI).map(([name, options]) =>
  probe('gemini', name, [{ [name]: name === 'mcpServers' ? [options] : options }, FUNCTIONS.gemini]),
);
