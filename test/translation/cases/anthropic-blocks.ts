import type { Json } from '../outbound.ts';
import { ALL, assistant, document, file, found, GEMINIS, LLAMA, marker, picture, plain, url } from './anthropic.ts';
import { hi, text, user, type Case, type Cases } from './case.ts';

const given = (title: string, ...content: readonly Json[]): Case => ({
  title,
  request: { messages: [user(text('See:'), ...content)] },
});
const said = (title: string, ...content: readonly Json[]): Case => ({
  title,
  request: { messages: [hi, assistant(...content), hi] },
});

const searched = [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'Oslo' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [
      {
        type: 'web_search_result',
        url: 'https://example.com/oslo',
        title: 'Oslo',
        encrypted_content: 'AAAA',
        page_age: null,
      },
    ],
  },
] as const;

/**
 * Content of turns beside text and calls (docs/protocols/anthropic-messages.md#content-blocks, docs/protocols/requests.md#media,
 * docs/protocols/messages-route.md#requests).
 */
export const anthropicBlocks: Cases = {
  'image-base64': { ...given('a picture', picture()), ...ALL },
  'image-only': { title: 'nothing but a picture', request: { messages: [user(picture())] }, ...ALL },
  'image-url': { ...given('a picture by its address', picture(url('https://files.example/a.png'))), ...ALL },
  'image-url-untold': given(
    'a picture by an address that does not say its type',
    picture(url('https://files.example/a')),
  ),
  'image-file': given('a picture by its id at Anthropic', picture(file('file_1'))),
  'image-bmp': given(
    'a picture of a type Claude has not',
    picture({ type: 'base64', media_type: 'image/bmp', data: 'Qk0=' }),
  ),
  'image-transformed': given(
    'a picture that may not be made smaller',
    picture(undefined, { transformations: { oversized_image: 'error' } }),
  ),
  'pdf-base64': { ...given('a PDF', document()), ...ALL },
  'pdf-titled': {
    ...given('a PDF with a title', document(undefined, { title: 'Report' })),
    ...ALL,
  },
  'pdf-described': given(
    'a PDF with a context, to be cited',
    document(undefined, { title: 'Report', context: 'Draft of May.', citations: { enabled: true } }),
  ),
  'pdf-url': { ...given('a PDF by its address', document(url('https://files.example/a.pdf'))), ...ALL },
  'document-text': { ...given('a text document', document(plain('Rain all day.'))), ...ALL },
  'document-text-titled': given('a text document with a title', document(plain('Rain all day.'), { title: 'Report' })),
  'document-content': given(
    'a document of blocks',
    document({ type: 'content', content: [text('Rain'), text('all day.')] }),
  ),
  'document-content-string': given('a document of one text', document({ type: 'content', content: 'Rain all day.' })),
  'document-file': given('a document by its id at Anthropic', document(file('file_1'))),
  'search-result': { ...given('a search result', found()), ...ALL },
  'search-result-cited': given('a search result to be cited', found({ citations: { enabled: true } })),
  'text-cited': said('an answer with citations', {
    ...text('Oslo is the capital.'),
    citations: [
      {
        type: 'search_result_location',
        source: 'https://example.com',
        title: 'Oslo',
        cited_text: 'Oslo',
        search_result_index: 0,
        start_block_index: 0,
        end_block_index: 1,
      },
    ],
  }),
  'searched-by-claude': { ...said('a search Anthropic ran, and the answer', ...searched, text('Oslo.')), ...GEMINIS },
  'code-by-claude': said(
    'code Anthropic ran, and the answer',
    { type: 'server_tool_use', id: 'srvtoolu_2', name: 'code_execution', input: { code: 'print(1)' } },
    {
      type: 'code_execution_tool_result',
      tool_use_id: 'srvtoolu_2',
      content: { type: 'code_execution_result', stdout: '1\n', stderr: '', return_code: 0, content: [] },
    },
    text('It is 1.'),
  ),
  'search-failed': said(
    'a search that failed',
    searched[0],
    {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: { type: 'web_search_tool_result_error', error_code: 'unavailable' },
    },
    text('I could not look.'),
  ),
  'mcp-by-claude': said(
    'a tool of an MCP server Anthropic called',
    { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'echo', server_name: 'demo', input: { text: 'hi' } },
    { type: 'mcp_tool_result', tool_use_id: 'mcptoolu_1', is_error: false, content: [text('hi')] },
    text('It said hi.'),
  ),
  'container-upload': given('a file for Anthropic’s container', { type: 'container_upload', file_id: 'file_1' }),
  'unknown-block': given('an unknown block', { type: 'hologram', data: 'AAAA' }),
  'unknown-block-alone': {
    title: 'only an unknown block',
    request: { messages: [hi, { role: 'assistant', content: [{ type: 'hologram', data: 'AAAA' }] }, hi] },
  },
  'cache-marked': {
    title: 'cache markers on the system prompt, a text and a tool',
    request: {
      system: [{ ...text('Be brief.'), cache_control: marker }],
      messages: [user({ ...text('hi'), cache_control: { type: 'ephemeral' } })],
      tools: [{ name: 'weather', input_schema: { type: 'object' }, cache_control: marker }],
    },
    gemini: ['gemini-2.5-flash'],
    openai: ['gpt-5'],
    llama: [LLAMA],
  },
};
