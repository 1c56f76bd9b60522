import { isObject, parseJson } from '../../../core/kernel/index.ts';
import type { World } from '../../../core/commands/terminal/arguments.ts';
import { ask, Unanswered, type AdminReply } from './ask.ts';
import { callLines, readCall, type AdminCall } from './call.ts';
import { gapsOf, showAnswer } from './show.ts';

const isDone = ({ status }: AdminReply): boolean => status >= 200 && status < 300;

/** `gatehouse admin`. Exit code 0: done; 1: the gateway refused the call or does not answer. */
export async function adminCommand(args: readonly string[], world: World): Promise<0 | 1> {
  if (args[0] === undefined || args[0] === 'help') {
    world.out(
      `Calls of \`gatehouse admin\`, each with the least role:\n\n${callLines()
        .map((line) => `  ${line}\n`)
        .join('')}`,
    );
    return 0;
  }
  const call = await readCall(args, world);
  try {
    return await run(call, world);
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    world.err(`gatehouse: ${error.message}\n`);
    return 1;
  }
}

async function run(call: AdminCall, world: World): Promise<0 | 1> {
  const { route, values } = call;
  const etag = route.changes ? (values.ifMatch ?? (await etagOf(call, world))) : undefined;
  if (route.changes && etag === undefined) return 1;
  const headers = {
    ...(route.explains && values.output === 'table' && { accept: 'text/plain' }),
    ...(etag !== undefined && { 'if-match': etag }),
    ...(values.idempotencyKey !== undefined && { 'idempotency-key': values.idempotencyKey }),
  };
  for (let target = call.target; ;) {
    const reply = await send(call, target, headers);
    if (!isDone(reply)) return refuse(reply, world);
    if (!(reply.headers['content-type'] ?? '').startsWith('application/json')) {
      for await (const piece of reply.pieces) world.out(piece);
      return 0;
    }
    const answer: unknown = JSON.parse(await reply.text());
    world.out(showAnswer(answer, call));
    const next = isObject(answer) && typeof answer['next'] === 'string' ? answer['next'] : undefined;
    if (next === undefined) {
      world.err(gapsOf(answer));
      return 0;
    }
    if (!values.all) {
      world.err(`There are more: --all, or --cursor ${next}\n`);
      return 0;
    }
    target = withCursor(call.target, next);
  }
}

function withCursor(target: string, cursor: string): string {
  const [path = '', query = ''] = target.split('?', 2);
  const params = new URLSearchParams(query);
  params.set('cursor', cursor);
  return `${path}?${params.toString()}`;
}

/** ETag of the object as it is now. Undefined: the call was refused, and the reason is printed. */
async function etagOf(call: AdminCall, world: World): Promise<string | undefined> {
  const reply = await send({ ...call, route: { ...call.route, method: 'GET' }, body: undefined }, call.object, {});
  if (!isDone(reply)) await refuse(reply, world);
  return isDone(reply) ? reply.headers.etag : undefined;
}

const send = (
  { route, values, body }: Pick<AdminCall, 'route' | 'values' | 'body'>,
  target: string,
  headers: Readonly<Record<string, string>>,
): Promise<AdminReply> =>
  ask(`${values.url}/admin/v1${target}`, { method: route.method, token: values.token, body, headers });

async function refuse(reply: AdminReply, { err }: World): Promise<1> {
  const text = await reply.text();
  err(`gatehouse: ${reply.status} ${refusalOf(text) ?? text.slice(0, 500)}\n`);
  return 1;
}

function refusalOf(text: string): string | undefined {
  const problem = parseJson(text);
  if (!isObject(problem) || typeof problem['code'] !== 'string') return undefined;
  const errors = Array.isArray(problem['errors']) ? problem['errors'].filter(isObject) : [];
  const lines = errors.slice(1).map(({ pointer, message }) => `\n  ${String(pointer)}: ${String(message)}`);
  return `${problem['code']}: ${String(problem['detail'])}${lines.join('')}`;
}
