/** The settings room: YAML files → validated, typed settings with every problem at its place → what requests run on. */
export { generateKey, isWellFormedKey, type NewKey } from './api-keys.ts';
export { describe, formatDiagnostics, type Diagnostic, type DiagnosticFormat } from './diagnostic.ts';
export { diskFiles, memoryFiles, type SettingsFiles } from './files.ts';
export { compileGatewayConfig, compileTimeouts } from './gateway-config.ts';
export { createKeyRing } from './key-ring.ts';
export { loadSettings, type LoadOptions, type LoadResult, type Settings } from './load.ts';
export { compileServerSettings, type ServerSettings } from './server-settings.ts';
