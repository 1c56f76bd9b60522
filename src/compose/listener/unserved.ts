import type Koa from 'koa';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import { operations } from '../../operations/index.ts';
import { GatewayError } from '../../plugin/index.ts';
import type { Routed } from '../../gateway/routed.ts';
import { routes } from './request-target.ts';
import { guessFormat } from './routes.ts';

/** What is said of a request at whose path, or with whose method, nothing is served. */
export const unserved = (ctx: Koa.Context): Routed => ({
  operation: undefined,
  format: guessFormat(operations, ctx) ?? openaiChat,
  params: {},
  refusal: refusal(ctx),
});

function refusal(ctx: Koa.Context): GatewayError {
  const methods = methodsAt(ctx.path);
  if (methods.length === 0)
    return new GatewayError(
      'not_found',
      `There is no route ${ctx.method} ${ctx.path.slice(0, 200)}.${hintFor(ctx.path)}`,
    );
  ctx.set('allow', methods.join(', '));
  return new GatewayError('method_not_allowed', `${ctx.path} takes ${methods.join(', ')}, not ${ctx.method}.`);
}

/** What answers GET answers HEAD, without the content (RFC 9110, section 9.3.2). */
const methodsAt = (asked: string): readonly string[] =>
  routes
    .filter(({ path }) => path.test(asked))
    .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

/** Anthropic's clients put `/v1` into their paths, OpenAI's expect it in their base URL; either is easily given the other's. */
function hintFor(asked: string): string {
  const plain = asked.replace(/^\/{2,}/, '/');
  const meant = [plain, plain.replace(/^\/v1(?=\/v1\/)/i, ''), `/v1${plain}`].find(
    (path) => methodsAt(path).length > 0,
  );
  return meant === undefined ? '' : ` Did you mean ${meant.slice(0, 200)}? Look at the base URL of your client.`;
}
