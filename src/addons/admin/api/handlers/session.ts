import type { Console } from '../../../../core/process/console-port.ts';
import type { Call, Handler } from '../call.ts';
import { ApiProblem } from '../problems.ts';
import { sessionBody } from '../session-body.ts';
import { setCookie } from '../session-cookie.ts';

/** Throws where the build has none. */
export function consoleOf({ console }: Pick<Call, 'console'>): Console {
  if (console) return console;
  throw new ApiProblem('not_found', 'This build has no add-on console.');
}

export const getSession: Handler = (call) => ({ body: sessionBody(call.identity, call.sources, consoleOf(call)) });

export const endSession: Handler = async (call) => {
  const { session } = call.identity;
  if (session === undefined) return {};
  await consoleOf(call).sessions.end(session);
  const { admin } = call.sources.settings();
  const secure = call.sources.tls !== undefined || admin.publicUrl?.startsWith('https:') === true;
  return { headers: { 'set-cookie': setCookie('', { secure, seconds: 0 }) } };
};
