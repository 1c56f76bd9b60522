import { responseObject } from '../../support/response-object.ts';
import type { SeenRequest } from '../../support/upstream.ts';
import { USAGE } from '../words.ts';
import { refuse, type Answer, type Ask, type Call } from './ask.ts';
import { COMPACTION_BLOB, OPENAI_BLOB, present, readInput, type Item } from './responses-input.ts';
import { fields, isFields, list, only, text, words, type Fields } from './strict.ts';
import { halves, type Wire } from './wire.ts';
import { openai } from './openai.ts';

/** The Responses API, as OpenAI speaks it (docs/protocols/openai-responses.md). Answers are streamed as the API streams them. */

const TOP = words(
  'model input instructions max_output_tokens max_tool_calls temperature top_p top_logprobs tools tool_choice parallel_tool_calls text ' +
    'reasoning include store previous_response_id metadata safety_identifier user prompt_cache_key prompt_cache_retention service_tier ' +
    'stream stream_options truncation background client_metadata',
);

/** The fields of each type of tool; a tool of another type is a 400. */
const TOOLS: Readonly<Record<string, readonly string[]>> = {
  function: words('type name description parameters strict defer_loading'),
  custom: words('type name description format defer_loading'),
  namespace: words('type name description tools'),
  tool_search: words('type execution description parameters'),
  web_search: words('type external_web_access filters user_location search_context_size search_content_types'),
};

const INCLUDES = words(
  'reasoning.encrypted_content message.output_text.logprobs message.input_image.image_url web_search_call.action.sources',
);
const EFFORTS = words('none minimal low medium high xhigh max');

function toolNames(value: unknown, at: string): readonly string[] {
  return list(value ?? [], at).flatMap((tool) => {
    const declared = present(tool, at);
    const type = text(declared['type'], `${at}.type`);
    only(
      declared,
      at,
      TOOLS[type] ??
        refuse(`Invalid value: '${type}'. Supported values of ${at}.type are ${Object.keys(TOOLS).join(', ')}.`),
    );
    if (type === 'namespace') return toolNames(declared['tools'], `${at}.tools`);
    return type === 'web_search' || type === 'tool_search' ? [] : [text(declared['name'], `${at}.name`)];
  });
}

function forcedOf(choice: unknown, tools: readonly string[]): string | undefined {
  if (choice === undefined || choice === 'auto' || choice === 'none') return undefined;
  if (choice === 'required') return tools[0];
  return text(only(choice, 'tool_choice', ['type', 'name', 'mode', 'tools'])['name'], 'tool_choice.name');
}

const isCall = ({ type }: Item): boolean => type.endsWith('_call');
const isOutput = ({ type }: Item): boolean => type.endsWith('_output');

/** Runs of calls: the turns of the model. */
const roundsIn = (items: readonly Item[]): number =>
  items.filter(
    (item, at) =>
      isCall(item) &&
      !items
        .slice(0, at)
        .findLast((before) => before.type !== 'reasoning' && before.type !== 'message')
        ?.type.endsWith('_call'),
  ).length;

function read({ json, headers }: SeenRequest): Ask {
  const body = only(present(json, 'request'), 'request', TOP);
  if (text(body['model'], 'model').startsWith('@')) refuse('The requested model does not exist.');
  for (const name of list(body['include'] ?? [], 'include'))
    if (!INCLUDES.includes(text(name, 'include'))) refuse(`Invalid value: '${String(name)}' in include.`);
  const items = readInput(body['input']);
  const more = items.flatMap(({ tools }, at) => toolNames(tools, `input[${at}].tools`));
  const tools = [...toolNames(body['tools'], 'tools'), ...more];
  if (headers['x-openai-internal-codex-responses-lite'] === 'true' && body['parallel_tool_calls'] !== false)
    refuse('parallel_tool_calls must be false.');
  const reasoning = present(body['reasoning'] ?? {}, 'reasoning');
  const effort = reasoning['effort'];
  if (effort !== undefined && !EFFORTS.includes(text(effort, 'reasoning.effort'))) refuse('Invalid reasoning.effort.');
  const from = items.findLastIndex((item) => !isOutput(item)) + 1;
  const users = items.filter(({ role }) => role === 'user');
  const last = users.at(-1);
  const calls = items.filter(isCall);
  const format = fields(fields(body['text'] ?? {}, 'text')['format'] ?? {}, 'text.format');
  return {
    system: [
      body['instructions'] ?? '',
      ...items.filter(({ role }) => role === 'system' || role === 'developer').map(({ text }) => text),
    ].join(''),
    question: last?.text ?? '',
    stream: body['stream'] === true,
    tools: body['tool_choice'] === 'none' ? [] : tools,
    forced: forcedOf(body['tool_choice'], tools),
    results: from === items.length ? undefined : resultsOf(calls, items.slice(from)),
    json: format['type'] === 'json_schema' || format['type'] === 'json_object',
    image: last?.image,
    thinks: effort !== undefined && effort !== 'none',
    signed: items.some(({ blob }) => blob !== undefined),
    rounds: roundsIn(items),
    ...(items.at(-1)?.type === 'compaction_trigger' && { compacts: true }),
  };
}

/** In the order of the calls. */
const resultsOf = (calls: readonly Item[], outputs: readonly Item[]): readonly string[] =>
  calls.flatMap(({ callId }) => outputs.filter((output) => output.callId === callId).map(({ text }) => text));

/** The items of an answer, whole. */
function itemsOf({ thought, text: said, calls }: Answer, { json }: SeenRequest): readonly Fields[] {
  const last = list(json['input'] ?? [], 'input').at(-1);
  if (isFields(last) && last['type'] === 'compaction_trigger')
    return [{ id: 'cmp_1', type: 'compaction', encrypted_content: `${COMPACTION_BLOB}${said}` }];
  const content = [{ type: 'output_text', text: said, annotations: [], logprobs: [] }];
  return [
    ...(thought === undefined
      ? []
      : [
          {
            id: 'rs_1',
            type: 'reasoning',
            summary: [{ type: 'summary_text', text: thought }],
            encrypted_content: OPENAI_BLOB,
          },
        ]),
    ...(said === '' ? [] : [{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }]),
    ...calls.map(callItem),
  ];
}

function callItem({ id, name, args, kind, namespace }: Call, at: number): Fields {
  const call = { call_id: id ?? `call_${at + 1}`, status: 'completed' };
  if (kind === 'search')
    return { id: `tsc_${at}`, type: 'tool_search_call', ...call, execution: 'client', arguments: args };
  const named = { ...call, name, ...(namespace !== undefined && { namespace }) };
  return kind === 'custom'
    ? { id: `ctc_${at}`, type: 'custom_tool_call', ...named, input: args['input'] }
    : { id: `fc_${at}`, type: 'function_call', ...named, arguments: JSON.stringify(args) };
}

function responseOf(answer: Answer, request: SeenRequest, status: 'in_progress' | 'completed'): object {
  const reasoning = answer.thought === undefined ? 0 : USAGE.thought;
  const [input, output] = [answer.input ?? USAGE.input, USAGE.output + reasoning];
  const ended = status === 'completed';
  return {
    ...responseObject({
      model: fields(request.json, 'request')['model'],
      status,
      output: ended ? itemsOf(answer, request) : [],
      usage: ended ? { input, output, reasoning } : undefined,
    }),
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
  };
}

type Event = Readonly<Record<string, unknown>> & { readonly type: string };

/** The deltas of an item, between its announcement and its end. */
function partsOf(item: Fields, place: object): readonly Event[] {
  switch (item['type']) {
    case 'reasoning': {
      const [part] = list(item['summary'], 'summary').map((one) => fields(one, 'part'));
      const at = { ...place, summary_index: 0 };
      const whole = String(part?.['text']);
      return [
        { type: 'response.reasoning_summary_part.added', ...at, part: { type: 'summary_text', text: '' } },
        ...halves(whole).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...at, delta })),
        { type: 'response.reasoning_summary_text.done', ...at, text: whole },
        { type: 'response.reasoning_summary_part.done', ...at, part },
      ];
    }
    case 'message': {
      const [part] = list(item['content'], 'content').map((one) => fields(one, 'part'));
      const at = { ...place, content_index: 0 };
      const whole = String(part?.['text']);
      return [
        { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
        ...halves(whole).map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
        { type: 'response.output_text.done', ...at, text: whole, logprobs: [] },
        { type: 'response.content_part.done', ...at, part },
      ];
    }
    case 'tool_search_call':
    case 'compaction':
      return [];
    default: {
      const custom = item['type'] === 'custom_tool_call';
      const [name, key] = custom
        ? ['response.custom_tool_call_input', 'input']
        : ['response.function_call_arguments', 'arguments'];
      const whole = String(item[key]);
      return [
        ...halves(whole).map((delta) => ({ type: `${name}.delta`, ...place, delta })),
        { type: `${name}.done`, ...place, [key]: whole },
      ];
    }
  }
}

/** As `output_item.added` announces it. */
function begun({ encrypted_content: _, ...item }: Fields): Fields {
  const empty = {
    reasoning: { summary: [] },
    message: { content: [] },
    function_call: { arguments: '' },
    custom_tool_call: { input: '' },
  };
  return {
    ...item,
    ...Object.entries(empty).find(([type]) => type === item['type'])?.[1],
    ...('status' in item && { status: 'in_progress' }),
  };
}

const frame = (event: Event, at: number): string =>
  `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: at })}\n\n`;

export const responses: Wire = {
  read,
  reply: (answer, request) => responseOf(answer, request, 'completed'),
  stream(answer, request) {
    const open = responseOf(answer, request, 'in_progress');
    const events = itemsOf(answer, request).flatMap((item, index): readonly Event[] => [
      { type: 'response.output_item.added', output_index: index, item: begun(item) },
      ...partsOf(item, { item_id: item['id'], output_index: index }),
      { type: 'response.output_item.done', output_index: index, item },
    ]);
    return [
      { type: 'response.created', response: open },
      { type: 'response.in_progress', response: open },
      ...events,
      { type: 'response.completed', response: responseOf(answer, request, 'completed') },
    ].map(frame);
  },
  error: openai.error,
  streamError: frame(
    {
      type: 'error',
      error: { type: 'server_error', code: 'server_error', message: 'The model is overloaded.', param: null },
    },
    9,
  ),
};
