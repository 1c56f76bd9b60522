import type { Check } from './check.ts';

/** Rules for files only, and what a config sent with a request may not set: the hosts, the plugins. */
export const checkOrigin: Check = ({ inline }) =>
  inline
    ? {
        config({ file }, report) {
          if (file.custom_hosts) report(choosesHosts('custom_hosts'));
        },
        node({ file }, report) {
          if (file.plugins && !inline.plugins) report(CHOOSES_PLUGINS);
          if (file.remote_media) report(choosesHosts('remote_media'));
        },
      }
    : {
        // A request that sends `{}` does so deliberately.
        config({ file }, report) {
          if (Object.keys(file).length > 0) return;
          const message = 'this config is empty: requests that use it must name the provider and the model themselves';
          report({ path: [], severity: 'warning', message });
        },
      };

const CHOOSES_PLUGINS = {
  path: ['plugins'],
  on: 'key',
  message: 'a config sent with a request cannot choose `plugins`, because its key has no `inline_plugins`',
} as const;

const choosesHosts = (key: string) =>
  ({
    path: [key],
    on: 'key',
    message: `a config sent with a request cannot set \`${key}\`: only the operator may choose the hosts`,
  }) as const;
