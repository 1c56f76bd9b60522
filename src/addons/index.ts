import type { AddOn } from '../core/commands/add-on.ts';
import { admin } from './admin/index.ts';
import { agentConfig } from './agent-config/index.ts';
import { alerts } from './alerts/index.ts';
import { authCall } from './auth-call/index.ts';
import { budgets } from './budgets/index.ts';
import { captures } from './captures/index.ts';
import { configTests } from './config-tests/index.ts';
import { consoleOfOperators } from './console/index.ts';
import { doctor } from './doctor/index.ts';
import { explain } from './explain/index.ts';
import { files } from './files/index.ts';
import { guards } from './guards/index.ts';
import { importer } from './import/index.ts';
import { otlp } from './otlp/index.ts';
import { pluginTools } from './plugin-tools/index.ts';
import { postgres } from './postgres/index.ts';
import { prompts } from './prompts/index.ts';
import { responses } from './responses/index.ts';
import { semanticCache } from './semantic-cache/index.ts';
import { simulator } from './simulator/index.ts';
import { valkey } from './valkey/index.ts';
import { workers } from './workers/index.ts';

/** The add-ons of this build. Each is one folder and one line: without both, the build lacks it. */
export const addOns: readonly AddOn[] = [
  prompts,
  guards,
  responses,
  files,
  authCall,
  budgets,
  postgres,
  admin,
  consoleOfOperators,
  explain,
  configTests,
  captures,
  alerts,
  workers,
  otlp,
  semanticCache,
  importer,
  doctor,
  agentConfig,
  pluginTools,
  valkey,
  simulator,
];
