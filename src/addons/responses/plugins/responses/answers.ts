import { GatewayError, type Reply } from '../../../../plugin/index.ts';
import type {
  GatewayContext,
  KeptResponse,
  RequestLimits,
  ResponseService,
  Turns,
} from '../../../../core/kernel/index.ts';
import { inputItems, readPage } from './input-items.ts';

export interface Tools {
  readonly responses: ResponseService;
  readonly limits: RequestLimits;
  readonly turns: Turns;
}

type ResponseReply = (tools: Tools, ctx: GatewayContext) => Promise<Reply>;

/** The operations on kept responses, by id. */
export const ANSWERS: ReadonlyMap<string, ResponseReply> = new Map<string, ResponseReply>([
  ['responses.retrieve', retrieve],
  ['responses.delete', remove],
  ['responses.cancel', cancel],
  ['responses.input_items', list],
  ['conversations', refuseConversations],
]);

const idOf = ({ exchange }: GatewayContext): string => exchange.request.params['id'] ?? '';

/** In OpenAI's words, without a sign whether another key has it. */
const unknown = (id: string): GatewayError =>
  new GatewayError('response_not_found', `Response with id '${id.slice(0, 100)}' not found.`);

/** The response is a copy, which is charged before it is made. */
async function find({ responses, limits }: Tools, ctx: GatewayContext): Promise<KeptResponse> {
  const id = idOf(ctx);
  const { exchange } = ctx;
  const refusal = limits.reserve(exchange, await responses.measure(exchange, { response: id, items: [] }));
  if (refusal) throw refusal;
  const kept = await responses.find(exchange, id);
  if (!kept) throw unknown(id);
  return kept;
}

async function retrieve(tools: Tools, ctx: GatewayContext): Promise<Reply> {
  if (new URLSearchParams(ctx.querystring).get('stream') === 'true')
    throw new GatewayError('unsupported_parameter', 'A kept response cannot be streamed again.', { param: 'stream' });
  const { response } = await find(tools, ctx);
  return written(tools, ctx, { size: response.length, write: () => response });
}

async function remove({ responses }: Tools, ctx: GatewayContext): Promise<Reply> {
  const id = idOf(ctx);
  if (!(await responses.remove(ctx.exchange, id))) throw unknown(id);
  return jsonReply(Buffer.from(JSON.stringify({ id, object: 'response', deleted: true })));
}

/** Kept responses have ended: the gateway runs none in the background. */
async function cancel(tools: Tools, ctx: GatewayContext): Promise<Reply> {
  await find(tools, ctx);
  throw new GatewayError('invalid_request', 'Cannot cancel a response that has ended; none runs in the background.');
}

async function list(tools: Tools, ctx: GatewayContext): Promise<Reply> {
  const page = readPage(ctx.querystring);
  const kept = await find(tools, ctx);
  return written(tools, ctx, { size: kept.input.length, write: () => Buffer.from(inputItems(kept, page)) });
}

/** Writing a kept response blocks the process as long as a body of its size. */
async function written(
  { turns }: Tools,
  { exchange }: GatewayContext,
  { size, write }: { readonly size: number; readonly write: () => Buffer },
): Promise<Reply> {
  const reply = (): Reply => jsonReply(write());
  return turns.isHeavy(size) ? turns.run(exchange, reply) : reply();
}

function refuseConversations(): Promise<Reply> {
  return Promise.reject(
    new GatewayError(
      'unsupported_parameter',
      'The gateway keeps no conversations: continue a response by `previous_response_id`, or send the whole `input`.',
      { param: 'conversation' },
    ),
  );
}

const jsonReply = (body: Buffer): Reply => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body,
  stream: false,
});
