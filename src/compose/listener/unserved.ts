import type Koa from 'koa';
import { openaiChat } from '../../formats/openai-chat/index.ts';
import { operations } from '../../operations/index.ts';
import { GatewayError } from '../../plugin/index.ts';
import type { Routed } from '../../gateway/routed.ts';
import { routes } from './request-target.ts';
import { guessFormat } from './routes.ts';

/** The reading of a request whose path or method no route serves. */
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
  return new GatewayError('method_not_allowed', `${ctx.path} accepts ${methods.join(', ')}, not ${ctx.method}.`);
}

/** A route that serves GET also serves HEAD, without the content (RFC 9110, section 9.3.2). */
const methodsAt = (path: string): readonly string[] =>
  routes
    .filter((route) => route.path.test(path))
    .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

/**
 * Suggests a path. Anthropic's clients put `/v1` into their paths and OpenAI's expect it in their base URL, so base
 * URLs are easily mixed up.
 */
function hintFor(path: string): string {
  const plain = path.replace(/^\/{2,}/, '/');
  const served = [plain, plain.replace(/^\/v1(?=\/v1\/)/i, ''), `/v1${plain}`].find(
    (candidate) => methodsAt(candidate).length > 0,
  );
  return served === undefined ? '' : ` Did you mean ${served.slice(0, 200)}? Check the base URL of your client.`;
}
