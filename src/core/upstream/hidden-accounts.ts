/** Names of the account that vendors write into errors. Google's: resource names, labels, words. OpenAI's: ids of organizations and projects. */
const ACCOUNTS: readonly (readonly [form: RegExp, shown: string])[] = [
  [/(?<=\bprojects\/)(?:\d{6,}|[a-z][a-z0-9-]{4,28}[a-z0-9](?=\/(?:global|locations|regions)\/))/g, '[project]'],
  [/(?<=\bproject_number:|\bproject(?: number)? )\d{6,}/g, '[project]'],
  [/(?<=[?&](?:project|consumer)=)[^&#\s"]+/g, '[project]'],
  [/\bproj_[A-Za-z0-9]{6,}/g, '[project]'],
  [/\borg-[A-Za-z0-9]{10,}/g, '[organization]'],
];

const PATH_PROJECT = /\/projects\/([a-z][a-z0-9-]{4,28}[a-z0-9])\//;

/**
 * An upstream's message for a client, without the account whose credentials the gateway sent: callers have no business there
 * (docs/protocols/errors.md#accounts).
 * @param path the path of the request, in which Vertex AI has the project
 */
export function withoutAccount(message: string, path: string): string {
  const hidden = ACCOUNTS.reduce((text, [form, shown]) => text.replace(form, shown), message);
  const id = PATH_PROJECT.exec(path)?.[1];
  return id === undefined
    ? hidden
    : hidden.replaceAll(new RegExp(`(?<![a-z0-9-])${id}(?![a-z0-9-])`, 'g'), '[project]');
}
