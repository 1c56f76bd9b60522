import type { JsonObject } from './conversation.ts';
import { isObject, objectOf, listOf, parseJson, stringOf } from './json/object.ts';

/** Shorter texts occur in many words, and no real credential is so short. */
const SHORTEST = 8;

/** A body with secrets has one of these words: the search spares others the parsing. */
const SIGNS = ['"authorization', '"headers"', '"mcp_servers"', '"mcpServers"'];

/** The credentials with which a provider calls MCP servers: tokens and headers of tools, in any API's body. */
export function secretsInBody(body: string | Buffer): readonly string[] {
  if (!SIGNS.some((sign) => body.includes(sign))) return [];
  const json = parseJson(body.toString());
  if (!isObject(json)) return [];
  const found = [...ofTools(json.tools), ...ofServers(json), ...inInput(json.input)];
  const bare = found.map((value) => value.replace(/^[\w-]+ +/, '').trim());
  return [...new Set([...found, ...bare])].filter(({ length }) => length >= SHORTEST);
}

const objectsIn = (list: unknown): readonly JsonObject[] => (listOf(list) ?? []).filter(isObject);

/** Items such as `additional_tools` have tools of their own. */
const inInput = (input: unknown): readonly string[] => objectsIn(input).flatMap(({ tools }) => ofTools(tools));

const ofTools = (tools: unknown): readonly string[] =>
  objectsIn(tools).flatMap((tool) => [
    ...(tool.type === 'mcp' ? [...textIn(tool.authorization), ...textsIn(tool.headers)] : []),
    ...ofServers(tool),
    // A namespace has tools.
    ...objectsIn(tool.tools).flatMap((inner) => (inner.type === 'mcp' ? ofTools([inner]) : [])),
  ]);

/** `mcp_servers` of Anthropic beside the tools, and of Google in one of them. */
const ofServers = (holder: JsonObject): readonly string[] =>
  [...objectsIn(holder.mcp_servers), ...objectsIn(holder.mcpServers)].flatMap((server) => {
    const transport = objectOf(server.streamableHttpTransport) ?? objectOf(server.streamable_http_transport);
    return [...textIn(server.authorization_token), ...textsIn(transport?.headers)];
  });

const textIn = (value: unknown): readonly string[] => {
  const text = stringOf(value);
  return text === undefined ? [] : [text];
};

const textsIn = (headers: unknown): readonly string[] => Object.values(objectOf(headers) ?? {}).flatMap(textIn);
