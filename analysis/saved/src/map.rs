//! The iteration order of TVM's maps: that of libstdc++'s `unordered_map` with strings as keys, and that
//! of TVM's own map that is created from it.

/// TVM's hash of a string, the same on every machine.
fn hash(text: &str) -> u64 {
    const FACTOR: u64 = 1_099_511_628_211;
    const MODULUS: u64 = 2_147_483_647;
    text.as_bytes().chunks(8).fold(0u64, |result, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        result.wrapping_mul(FACTOR).wrapping_add(u64::from_le_bytes(word)) % MODULUS
    })
}

/// Returns strings in the iteration order of a map of TVM that was created from an `unordered_map` into
/// which they were inserted one by one.
pub(crate) fn ordered<'k>(inserted: &[&'k str]) -> Vec<&'k str> {
    let unordered = unordered(inserted);
    match unordered.len() {
        // Small maps keep the order.
        0..4 => unordered,
        _ => DenseMap::of(&unordered).order(),
    }
}

/// The numbers of buckets to which libstdc++ grows a table.
const BUCKETS: [u64; 8] = [13, 29, 59, 127, 257, 541, 1109, 2357];

/// Returns the iteration order of an `unordered_map` without removals.
fn unordered<'k>(inserted: &[&'k str]) -> Vec<&'k str> {
    let mut list: Vec<&str> = Vec::new();
    let mut buckets = BUCKETS.iter().copied();
    let mut count = buckets.next().unwrap_or(1);
    // A new entry precedes those of its bucket; in an empty bucket it precedes all others.
    let insert = |list: &mut Vec<&'k str>, key: &'k str, count: u64| {
        let bucket = hash(key) % count;
        let at = list.iter().position(|other| hash(other) % count == bucket).unwrap_or(0);
        list.insert(at, key);
    };
    for &key in inserted {
        if list.len() as u64 == count {
            count = buckets.next().unwrap_or(count * 2);
            let old = std::mem::take(&mut list);
            old.into_iter().for_each(|key| insert(&mut list, key, count));
        }
        insert(&mut list, key, count);
    }
    list
}

/// TVM's map of four or more entries: linked lists in one table.
struct DenseMap<'k> {
    slots: Vec<Slot<'k>>,
    shift: u32,
    count: usize,
}

#[derive(Clone, Copy)]
struct Slot<'k> {
    key: Option<&'k str>,
    is_head: bool,
    /// The step to the next entry of the list: an index in [`JUMPS`], 0 at the end.
    jump: usize,
}

const EMPTY: Slot<'static> = Slot { key: None, is_head: false, jump: 0 };

/// Distances to the next entry of a list. TVM has more, for tables larger than any metadata section.
const JUMPS: [usize; 32] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 21, 28, 36, 45, 55, 66, 78, 91, 105, 120,
    136, 153, 171, 190, 210, 231,
];

impl<'k> DenseMap<'k> {
    fn of(keys: &[&'k str]) -> DenseMap<'k> {
        let (mut shift, mut slots) = (64, 1);
        let mut rest = keys.len();
        while rest > 0 {
            shift -= 1;
            slots <<= 1;
            rest >>= 1;
        }
        if slots < keys.len() * 2 {
            shift -= 1;
            slots <<= 1;
        }
        let mut map = DenseMap { slots: vec![EMPTY; slots], shift, count: 0 };
        keys.iter().for_each(|key| map.insert(key));
        map
    }

    fn order(&self) -> Vec<&'k str> {
        self.slots.iter().filter_map(|slot| slot.key).collect()
    }

    fn home(&self, key: &str) -> usize {
        (hash(key).wrapping_mul(11_400_714_819_323_198_485) >> self.shift) as usize
    }

    fn next(&self, at: usize) -> Option<usize> {
        let jump = self.slots[at].jump;
        (jump > 0).then(|| (at + JUMPS[jump]) & (self.slots.len() - 1))
    }

    fn insert(&mut self, key: &'k str) {
        if !self.try_insert(key) {
            let mut larger = DenseMap {
                slots: vec![EMPTY; self.slots.len() * 2],
                shift: self.shift - 1,
                count: 0,
            };
            larger.insert(key);
            self.order().into_iter().for_each(|key| larger.insert(key));
            *self = larger;
        }
    }

    fn is_full(&self) -> bool {
        (self.count + 1) as f64 > self.slots.len() as f64 * 0.99
    }

    fn try_insert(&mut self, key: &'k str) -> bool {
        let mut at = self.home(key);
        if self.slots[at].key.is_none() {
            self.slots[at] = Slot { key: Some(key), is_head: true, jump: 0 };
            self.count += 1;
            return true;
        }
        if self.is_full() {
            return false;
        }
        if !self.slots[at].is_head {
            return self.make_head(at, key);
        }
        while let Some(next) = self.next(at) {
            at = next;
        }
        self.append(at, key)
    }

    /// Puts an entry into the next empty slot after the end of a list.
    fn append(&mut self, end: usize, key: &'k str) -> bool {
        let mask = self.slots.len() - 1;
        let free = (1..JUMPS.len()).find(|&jump| {
            let slot = &self.slots[(end + JUMPS[jump]) & mask];
            slot.key.is_none()
        });
        let Some(jump) = free else { return false };
        self.slots[(end + JUMPS[jump]) & mask] = Slot { key: Some(key), is_head: false, jump: 0 };
        self.slots[end].jump = jump;
        self.count += 1;
        true
    }

    /// Moves the end of a list away from the slot where another list begins.
    fn make_head(&mut self, at: usize, key: &'k str) -> bool {
        let Some(first) = self.slots[at].key else { return false };
        let mut end = self.home(first);
        while let Some(next) = self.next(end).filter(|&next| next != at) {
            end = next;
        }
        let mut moved = Vec::new();
        let mut from = Some(at);
        while let Some(slot) = from {
            from = self.next(slot);
            moved.extend(self.slots[slot].key);
            // The slot remains occupied until the new list starts there.
            self.slots[slot] = if slot == at { self.slots[slot] } else { EMPTY };
        }
        self.slots[end].jump = 0;
        self.count -= moved.len();
        for key in moved {
            if !self.append(end, key) {
                return false;
            }
            end = self.next(end).unwrap_or(end);
        }
        self.slots[at] = Slot { key: Some(key), is_head: true, jump: 0 };
        self.count += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_lost() {
        let keys: Vec<String> = (0..200).map(|k| format!("relay.attrs.Kind{k}Attrs")).collect();
        for count in 0..keys.len() {
            let inserted: Vec<&str> = keys[..count].iter().map(String::as_str).collect();
            let mut ordered = ordered(&inserted);
            ordered.sort_unstable();
            let mut sorted = inserted.clone();
            sorted.sort_unstable();
            assert_eq!(ordered, sorted);
        }
    }

    #[test]
    fn small_maps_iterate_from_the_last_key() {
        assert_eq!(ordered(&["tir.SizeVar", "tir.Add"]), ["tir.Add", "tir.SizeVar"]);
    }
}
