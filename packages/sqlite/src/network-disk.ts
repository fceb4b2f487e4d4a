import fs from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Network file systems by the `f_type` of Linux's statfs: `linux/magic.h`, and the sources of those that are not in it. */
const NETWORK: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB',
  16914839: '9p',
  1397113167: 'AFS',
  1799439955: 'AFS',
  12805120: 'Ceph',
  1937076805: 'Coda',
  198183888: 'Lustre',
  1196443219: 'GPFS',
  18225520: 'GFS2',
};
const FUSE = 0x65735546;
/** FUSE has local file systems, too, so the mount's own name decides. */
const NETWORK_FUSE =
  /^fuse\.(?:sshfs|s3fs|rclone|gcsfuse|goofys|glusterfs|ceph|juicefs|davfs|mount-s3|blobfuse)/;

/**
 * The network file system on which a file is, or would be: SQLite's journal does not work there, because machines do not share memory.
 * @returns undefined on a disk of this machine, and where it cannot be known: elsewhere than on Linux, and for unknown file systems
 */
export function networkDiskOf(file: string): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const folder = dirname(resolve(file));
  try {
    const type = Number(fs.statfsSync(folder).type) >>> 0; // some runtimes return it with a sign
    return type === FUSE ? networkFuseOf(fs.realpathSync(folder)) : NETWORK[type];
  } catch {
    return undefined; // a folder that is not there fails when the file is opened
  }
}

/** The type of the mount that has the folder, if that is a network file system. */
function networkFuseOf(folder: string): string | undefined {
  const mounts = fs
    .readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    // The kernel writes spaces and the like as octal numbers.
    .map(([, at = '', type = '']) => ({
      at: at.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
      type,
    }))
    .filter(({ at }) => at !== '' && `${folder}/`.startsWith(at === '/' ? at : `${at}/`));
  // Of two at one place the later one counts.
  const [mount] = mounts.reverse().sort((one, other) => other.at.length - one.at.length);
  return NETWORK_FUSE.exec(mount?.type ?? '')?.[0];
}
