//! scratch
use std::io::{BufRead, Write};
use semantics::*;
use semantics::body::*;
use std::sync::Arc;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let strict = args.iter().any(|a| a == "--tvm");
    let mut db = Database::new();
    db.set_strict(strict);
    let file = db.add_file("", Default::default());
    if args[0] == "time" {
        let text = std::fs::read_to_string(&args[1]).unwrap();
        for _ in 0..5 {
        let mut db = Database::new();
        let t = std::time::Instant::now();
        let parse = Arc::new(syntax::parse(&text));
        let t1 = t.elapsed();
        let file = db.add_file("", Default::default());
        db.set_parse(file, parse);
        for def in all_defs(&db, file) { body(&db, def); }
        let t2 = t.elapsed();
        for def in all_defs(&db, file) { scopes(&db, def); }
        let t3 = t.elapsed();
        for def in all_defs(&db, file) { inference(&db, def); }
        eprintln!("parse {:?} lower {:?} scope {:?} infer {:?} total {:?}", t1, t2-t1, t3-t2, t.elapsed()-t3, t.elapsed());
        }
        return;
    }
    let out = std::io::stdout();
    let mut out = out.lock();
    for line in std::io::stdin().lock().lines() {
        let v: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let text = v["text"].as_str().unwrap();
        let parse = Arc::new(syntax::parse(text));
        let mut diags = vec![];
        for e in &parse.errors { if !e.kind.is_compat() {
            diags.push(serde_json::json!({"severity":"error","message":format!("{:?}", e.kind),"start":u32::from(e.range.start()),"end":u32::from(e.range.end())}));
        } }
        db.set_parse(file, parse);
        let mut types = vec![];
        for def in all_defs(&db, file) {
            if !matches!(def.kind(&db), DefKind::Fn | DefKind::Expr) { continue; }
            let b = body(&db, def);
            let sc = scopes(&db, def);
            let inf = inference(&db, def);
            for (n, (u, t)) in b.units.iter().zip(&inf.units).enumerate() {
                let base = def.start(&db) + b.starts[n];
                let mut add = |r: syntax::TextRange, ty: &types::Type| {
                    let r = r + base;
                    types.push(serde_json::json!({"start":u32::from(r.start()),"end":u32::from(r.end()),"type":ty.to_string()}));
                };
                for (i, e) in u.exprs.iter().enumerate() {
                    if matches!(e, Expr::Condition(_)|Expr::EnterFn(_)|Expr::EnterMatch(_)|Expr::Declare(_)|Expr::Bind{..}) { continue; }
                    add(u.ranges[i], t.expr(ExprId(i as u32)));
                }
                for (i, bi) in u.binders.iter().enumerate() { add(bi.range, t.binder(BinderId(i as u32))); }
                for f in &t.findings { if f.is_error() {
                    diags.push(serde_json::json!({"severity":"error","message":format!("{f:?}"),"start":u32::from(base),"end":u32::from(base)}));
                } }
                for (i, _) in u.frees.iter().enumerate() { if sc.is_unknown(u, n, FreeId(i as u32)) {
                    diags.push(serde_json::json!({"severity":"error","message":format!("unknown {:?}", u.frees[i]),"start":u32::from(base),"end":u32::from(base)}));
                } }
                for p in u.problems.iter().filter(|p| p.kind.is_error()) {
                    diags.push(serde_json::json!({"severity":"error","message":format!("{:?}", p.kind),"start":u32::from(base),"end":u32::from(base)}));
                }
            }
        }
        writeln!(out, "{}", serde_json::json!({"id": v["id"], "diagnostics": diags, "types": types})).unwrap();
    }
}
