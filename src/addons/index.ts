import type { AddOn } from '../core/commands/add-on.ts';
import { admin } from './admin/index.ts';
import { agentConfig } from './agent-config/index.ts';
import { budgets } from './budgets/index.ts';
import { configTests } from './config-tests/index.ts';
import { doctor } from './doctor/index.ts';
import { explain } from './explain/index.ts';
import { importer } from './import/index.ts';
import { pluginTools } from './plugin-tools/index.ts';
import { prompts } from './prompts/index.ts';
import { simulator } from './simulator/index.ts';

/** The add-ons of this build. Each is one folder and one line, and its index.ts if it has commands: without them, the build lacks it. */
export const addOns: readonly AddOn[] = [
  prompts,
  { name: 'guards', parts: () => import('./guards/parts.ts') },
  { name: 'responses', parts: () => import('./responses/parts.ts') },
  { name: 'files', parts: () => import('./files/parts.ts') },
  { name: 'auth-call', parts: () => import('./auth-call/parts.ts') },
  budgets,
  { name: 'postgres', parts: () => import('./postgres/parts.ts') },
  admin,
  { name: 'console', threads: ['src/addons/console/records/thread'], parts: () => import('./console/parts.ts') },
  explain,
  configTests,
  { name: 'alerts', parts: () => import('./alerts/parts.ts') },
  { name: 'workers', parts: () => import('./workers/parts.ts') },
  { name: 'otlp', parts: () => import('./otlp/parts.ts') },
  { name: 'semantic-cache', parts: () => import('./semantic-cache/parts.ts') },
  importer,
  doctor,
  agentConfig,
  pluginTools,
  { name: 'valkey', parts: () => import('./valkey/parts.ts') },
  simulator,
];
