import {
  definePlugin,
  type Exchange,
  type KeptTurn,
  type Operation,
  type RequestBody,
  type RequestLimits,
  type ResponseService,
  type Turns,
} from '../../../../core/kernel/index.ts';
import { GatewayError } from '../../../../plugin/index.ts';
import { ANSWERS, type Tools } from './answers.ts';
import { inputList, namesKept, wholeInput, type ExpandedRequest, type WholeInput } from './expand.ts';
import { keepReply } from './keep.ts';

/** Keeps responses of the Responses API, continues them, and answers for them. */
export default definePlugin({
  name: 'responses',
  level: 'entry',
  needs: ['responses', 'limits', 'turns'],
  requires: ['caller', 'body'],
  idleFor: (operation) => !isOfResponses(operation?.id ?? ''),
  explain({ exchange: { operation, caller, kept, reply, error } }) {
    if (operation && ANSWERS.has(operation.id) && reply && !error)
      return { does: `answers from the responses of key ${caller?.keyId}; nothing is sent to a model` };
    const does = kept ? describe(kept, caller?.keyId) : '';
    return does === '' ? undefined : { does };
  },
  create: ({ host }) =>
    function responses(ctx, next) {
      const { exchange } = ctx;
      const answer = ANSWERS.get(exchange.operation?.id ?? '');
      return answer ? answer(host, ctx).then((reply) => void (exchange.reply = reply)) : ask(host, exchange, next);
    },
});

const isOfResponses = (id: string): boolean => id.startsWith('responses') || id === 'conversations';

const describe = ({ keeps, continues, references }: KeptTurn, key = ''): string =>
  [
    ...(continues === undefined ? [] : [`continues ${continues}`]),
    ...(references > 0 ? [`puts kept items in place of ${references} references`] : []),
    ...(keeps ? [`keeps the response for key ${key}`] : []),
  ].join('; ');

function ask(tools: Tools, exchange: Exchange, next: () => Promise<void>): Promise<void> {
  const { operation, kept } = exchange;
  const { body } = exchange.request;
  if (!operation || !body) return next();
  if (kept === undefined && !namesKept(operation, body)) return answered(tools, { exchange, operation }, next);
  return continued(tools, { exchange, operation, body }).then((turn) =>
    answered(tools, { exchange, operation, turn }, next),
  );
}

interface Turn extends Pick<ExpandedRequest, 'exchange' | 'operation'> {
  readonly turn?: Omit<KeptTurn, 'keeps'> | undefined;
}

/** Answers and keeps the response. No async function: a request that continues nothing has one promise of this plugin. */
function answered(
  { responses: service }: Tools,
  { exchange, operation, turn }: Turn,
  next: () => Promise<void>,
): Promise<void> {
  const body = exchange.request.body!;
  const keeps = operation.id === 'responses' && mayKeep(body, service);
  if (keeps || turn)
    exchange.kept = {
      continues: turn?.continues,
      references: turn?.references ?? 0,
      unreadable: turn?.unreadable,
      keeps,
    };
  if (!keeps) return next();
  return next().then(() => {
    // The parameters of the target may forbid it.
    if (!exchange.reply || exchange.attempts.at(-1)?.body.value('store') === false) return undefined;
    return keepReply(exchange.reply, exchange, service, () => inputList(body));
  });
}

async function continued(
  { responses: service, limits, turns }: Tools,
  { exchange, operation, body }: ExpandedRequest,
): Promise<Omit<KeptTurn, 'keeps'> | undefined> {
  const { request, kept } = exchange;
  // A request that is explained after it was served: its body has the whole input.
  if (kept) {
    request.body = body.edit(WITHOUT_ID);
    return kept;
  }
  let charged = 0;
  const charge = (bytes: number, most: number): void => {
    if (bytes > most) throw tooLarge(limits);
    const refusal = bytes > charged ? limits.reserve(exchange, bytes - charged) : undefined;
    if (refusal) throw refusal;
    charged = Math.max(charged, bytes);
  };
  // A kept response also repeats fields of its request that are no input, so its size may exceed `limits.body`.
  const chargeRead = (bytes: number): void => charge(bytes, limits.body + service.maxBytes);
  const whole = await wholeInput({ exchange, operation, body }, service, { turns, charge: chargeRead });
  if (!whole) return undefined;
  charge(whole.length, limits.body);
  const rewriting = { body, texts: whole.texts, limits };
  const written = turns.isHeavy(whole.length)
    ? await rewrittenInTurns({ exchange, operation }, rewriting, turns)
    : checked(operation, rewritten(rewriting));
  // The original bytes keep the id, which rules of the key may forbid.
  request.body = whole.continues === undefined ? written : written.edit(WITHOUT_ID);
  // The texts hold the kept response: they must not live as long as the request.
  return { continues: whole.continues, references: whole.references, unreadable: whole.unreadable };
}

const WITHOUT_ID = [{ path: ['previous_response_id'], value: undefined, source: 'gateway' }] as const;

/** The reply says at its start whether it is kept, so a larger input is not. */
const mayKeep = (body: RequestBody, { maxBytes }: ResponseService): boolean =>
  maxBytes > 0 &&
  body.value('store') !== false &&
  body.value('background') !== true &&
  2 * body.original.length < maxBytes;

interface Rewriting extends Pick<WholeInput, 'texts'> {
  readonly body: RequestBody;
  readonly limits: RequestLimits;
}

/** Parsing cannot be interrupted, so it has a turn of its own: 100,000 short references become a body of tens of megabytes. */
async function rewrittenInTurns(
  { exchange, operation }: Pick<ExpandedRequest, 'exchange' | 'operation'>,
  rewriting: Rewriting,
  turns: Turns,
): Promise<RequestBody> {
  const whole = await turns.run(exchange, () => rewritten(rewriting));
  if (!whole.abridges) await turns.run(exchange, () => void whole.json());
  return turns.run(exchange, () => checked(operation, whole));
}

function rewritten({ body, texts, limits }: Rewriting): RequestBody {
  const whole = body.rewrite(new Map([['input', `[${texts.map(String).join(',')}]`]]), limits.json);
  if (whole.original.length > limits.body) throw tooLarge(limits);
  return whole;
}

function checked(operation: Operation, whole: RequestBody): RequestBody {
  const parsed = whole.abridged();
  const fault = operation.validate(parsed);
  if (fault) throw new GatewayError('invalid_request', fault.message, { param: fault.param });
  whole.checked = true;
  whole.hasReferences = operation.hasReferences?.(parsed);
  return whole;
}

const tooLarge = ({ body }: RequestLimits): GatewayError =>
  new GatewayError(
    'request_too_large',
    `With the conversation that it continues, the body exceeds ${body} bytes (limits.body).`,
  );
