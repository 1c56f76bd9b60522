import type { ServerFile } from '../../../schemas/types.generated.ts';
import type { Report } from '../../plugin/index.ts';
import { compileServerSettings, type ServerSettings } from '../server-settings.ts';
import { checkConfigId, type Known } from './known.ts';
import { checkTimeouts } from './times.ts';

const ANY_ADDRESS = ['0.0.0.0', '::'];

export function checkServer(file: ServerFile, known: Known, report: Report): void {
  if (file.default_config !== undefined)
    checkConfigId(file.default_config, known, { path: ['default_config'], report });
  const settings = compileServerSettings(file);
  checkTimeouts(file.timeouts, settings.timeouts, { path: ['timeouts'], report });
  checkPorts(file, settings, report);
  checkLimits(settings, report);
  checkCache(file, settings, report);
  checkPrefixes(settings, report);
}

function checkPorts(file: ServerFile, { listen, status }: ServerSettings, report: Report): void {
  const sameHost = listen.host === status.host || [listen.host, status.host].some((host) => ANY_ADDRESS.includes(host));
  if (listen.port === 0 || listen.port !== status.port || !sameHost) return;
  const path = [file.listen?.port === undefined ? 'status' : 'listen', 'port'];
  report({ path, message: `\`status\` and \`listen\` both use port ${listen.port}` });
}

/** In other gateways 0 means "no limit". */
function checkLimits({ limits }: ServerSettings, report: Report): void {
  for (const name of ['body', 'header', 'reply'] as const) {
    if (limits[name] > 0) continue;
    const what = name === 'reply' ? 'every plain reply that has to be translated' : 'every request';
    report({ path: ['limits', name], message: `\`${name}: 0\` would refuse ${what}; leave it out for the default` });
  }
}

function checkCache(
  { cache }: ServerFile,
  { cache: { maxBytes, maxEntryBytes } }: ServerSettings,
  report: Report,
): void {
  const warn = (key: string, message: string): void => report({ path: ['cache', key], severity: 'warning', message });
  if (maxBytes === 0) warn('max_bytes', 'nothing is ever kept, whatever gateway configs say of `cache`');
  else if (maxEntryBytes > maxBytes && cache)
    warn(
      cache.max_entry_bytes === undefined ? 'max_bytes' : 'max_entry_bytes',
      `one reply may have ${maxEntryBytes} bytes (\`max_entry_bytes\`), and all together ${maxBytes} (\`max_bytes\`)`,
    );
}

function checkPrefixes({ headerPrefixes: prefixes }: ServerSettings, report: Report): void {
  for (const [index, prefix] of prefixes.entries()) {
    const path = ['header_prefixes', index];
    if (prefixes.indexOf(prefix) < index)
      report({ path, severity: 'warning', message: `headers that begin with ${prefix} are listed already` });
    if (prefix === 'x-')
      report({
        path,
        message: "nearly every header begins with x-, and all that do would be taken for the gateway's own",
      });
  }
}
