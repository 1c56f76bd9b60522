import type { Handler } from '../call.ts';
import { CONSOLE_ROUTES, type ConsoleOperation } from '../console-routes.ts';
import { ApiProblem } from '../problems.ts';

const missing: Handler = () => {
  throw new ApiProblem('not_found', 'This build does not have this call yet.');
};

export const CONSOLE_HANDLERS = Object.fromEntries(
  Object.keys(CONSOLE_ROUTES).map((operation) => [operation, missing]),
) as Readonly<Record<ConsoleOperation, Handler>>;
