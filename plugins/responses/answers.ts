import {
  GatewayError,
  type GatewayContext,
  type KeptResponse,
  type Reply,
  type ResponseService,
} from '../../src/plugin/index.ts';
import { inputItems } from './input-items.ts';
import { responseText } from './keep.ts';

type ResponseReply = (service: ResponseService, ctx: GatewayContext) => Promise<Reply>;

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

async function find(service: ResponseService, ctx: GatewayContext): Promise<KeptResponse> {
  const id = idOf(ctx);
  const kept = await service.find(ctx.exchange, id);
  if (!kept || kept === 'foreign') throw unknown(id);
  return kept;
}

async function retrieve(service: ResponseService, ctx: GatewayContext): Promise<Reply> {
  if (new URLSearchParams(ctx.querystring).get('stream') === 'true')
    throw new GatewayError('unsupported_parameter', 'A kept response cannot be streamed again.', { param: 'stream' });
  return jsonReply(responseText(await find(service, ctx)));
}

async function remove(service: ResponseService, ctx: GatewayContext): Promise<Reply> {
  const id = idOf(ctx);
  if (!(await service.remove(ctx.exchange, id))) throw unknown(id);
  return jsonReply(JSON.stringify({ id, object: 'response', deleted: true }));
}

/** Kept responses have ended: the gateway runs none in the background. */
async function cancel(service: ResponseService, ctx: GatewayContext): Promise<Reply> {
  await find(service, ctx);
  throw new GatewayError('invalid_request', 'Cannot cancel a response that has ended; none runs in the background.');
}

async function list(service: ResponseService, ctx: GatewayContext): Promise<Reply> {
  return jsonReply(JSON.stringify(inputItems(await find(service, ctx), ctx.querystring)));
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

const jsonReply = (text: string): Reply => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(text),
  stream: false,
});
