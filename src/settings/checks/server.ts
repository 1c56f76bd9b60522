import type { ServerFile } from '../../../schemas/types.generated.ts';
import type { Report } from '../../plugin/index.ts';
import { compileServerSettings } from '../server-settings.ts';
import { checkConfigId, type Known } from './known.ts';
import { checkTimeouts } from './times.ts';

const ANY_ADDRESS = ['0.0.0.0', '::'];

export function checkServer(file: ServerFile, known: Known, report: Report): void {
  if (file.default_config !== undefined)
    checkConfigId(file.default_config, known, { path: ['default_config'], report });
  checkTimeouts(file.timeouts, { path: ['timeouts'], report });
  const { listen, status } = compileServerSettings(file);
  const sameHost = listen.host === status.host || [listen.host, status.host].some((host) => ANY_ADDRESS.includes(host));
  if (listen.port !== 0 && listen.port === status.port && sameHost) {
    const path = [file.listen?.port === undefined ? 'status' : 'listen', 'port'];
    report({ path, message: `\`status\` and \`listen\` both use port ${listen.port}` });
  }
}
