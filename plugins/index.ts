import type { Plugin } from '../src/plugin/index.ts';
import auth from './auth/index.ts';
import body from './body/index.ts';
import budget from '../src/addons/budgets/plugins/budget/index.ts';
import cache from './cache/index.ts';
import config from './config/index.ts';
import cors from './cors/index.ts';
import errors from './errors/index.ts';
import files from '../src/addons/files/plugins/files/index.ts';
import limit from '../src/addons/budgets/plugins/limit/index.ts';
import limitTokens from '../src/addons/budgets/plugins/limit-tokens/index.ts';
import metadata from './metadata/index.ts';
import models from './models/index.ts';
import override from './override/index.ts';
import prompts from '../src/addons/prompts/plugins/prompts/index.ts';
import responses from '../src/addons/responses/plugins/responses/index.ts';
import retry from './retry/index.ts';
import route from './route/index.ts';
import send from './send/index.ts';
import telemetry from './telemetry/index.ts';
import transform from './transform/index.ts';

/** The built-in plugins, in the order of the default chains: entry, request, attempt. */
export const builtinPlugins: readonly Plugin[] = [
  telemetry,
  cors,
  errors,
  auth,
  limit,
  models,
  files,
  body,
  responses,
  limitTokens,
  config,
  prompts,
  metadata,
  route,
  override,
  cache,
  transform,
  budget,
  retry,
  send,
];
