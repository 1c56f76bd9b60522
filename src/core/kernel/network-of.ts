/** One customer of a provider has 2 ** 64 addresses of IPv6 at the least (RFC 6177, section 2). */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  // An address of IPv4 at a socket of IPv6 (RFC 4291, section 2.5.5.2).
  if (/^::ffff:[\d.]+$/i.test(address)) return address.slice('::ffff:'.length);
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length);
  const groups = [...first, ...Array.from({ length: zeros }, () => '0'), ...last];
  return groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':');
}
