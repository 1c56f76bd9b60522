import { refusalOf, stream } from './client.ts';

/** Saves an answer as a file. A link could not send the half of the session that scripts hold. */
export async function download(path: string, query: URLSearchParams, name: string): Promise<void> {
  const response = await stream(path, { query: query.toString() });
  if (!response.ok) throw refusalOf(await response.json().catch(() => undefined), response.status);
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
