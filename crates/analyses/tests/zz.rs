mod common;
use racehunter_analyses::*;
use racehunter_explore::*;
use racehunter_explore::model::*;
#[test]
fn zz() {
    let add = vec![Op::Read(0, 0), Op::Write(0, Value::RegPlus(0, 1))];
    for (threads, reps) in [(2usize, 10usize), (4, 10), (8, 20)] {
      let body: Vec<Op> = add.iter().cloned().cycle().take(2*reps).collect();
      let total = (threads*reps) as i64;
      let program = Program::fork_join(vec![body; threads], vec![Op::Read(0, 0), Op::Assert(0, total)]);
      let mut x = ModelExecutor::new(program.clone()); x.add_all_points();
      let s = Campaign::new(Technique::Random.portfolio(&Options::default()), Budget{runs: Some(1), points: Points::All, ..Budget::default()}, &mut |_|()).run(&mut x, &mut || false);
      for f in s.found.iter().filter(|f| matches!(f.bug, Bug::Assertion(..))) {
        let m = minimise(&mut x, &f.repeat, &f.bug, 300).unwrap().unwrap();
        println!("{threads}x{reps}: {} -> {} preemptions, {} switches, {} runs", f.preemptions, m.preemptions, m.switches.len(), m.runs);
        let m = simplify(&mut x, &f.repeat, &f.bug, 300).unwrap().unwrap();
        println!("   simplify {} preemptions, {} switches, {} runs", m.preemptions, m.switches.len(), m.runs);
      }
    }
}
