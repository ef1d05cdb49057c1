# Steps with a built-in kind through the typed API, whose bodies do not carry
# apiVersion and kind. It is ServiceAccount: no object with a map, as ConfigMaps and
# labels are, gets through the client's own models.
package BuiltinSteps;

use strict;
use warnings;

use Harness;

sub account {
    my ( $name, @secrets ) = @_;
    return Kubernetes::Object::V1ServiceAccount->new(
        metadata => Kubernetes::Object::V1ObjectMeta->new( name => $name ),
        secrets  => [ map { Kubernetes::Object::V1ObjectReference->new( name => $_ ) } @secrets ],
    );
}

sub names_of { map { $_->name } @{ $_[0]->secrets } }

sub steps {
    my ( $factory, $namespace ) = @_;
    my $core = $factory->get_api('CoreV1');
    my @in = ( namespace => $namespace );
    my $read = sub { $core->read_namespaced_service_account( @in, name => $_[0] ) };
    my $list = sub { $core->list_namespaced_service_account( @in, @_ ) };

    my $create = sub {
        my $made = $core->create_namespaced_service_account( @in, body => account( 'one', 'a' ) );
        equal( [ $made->kind, $made->api_version, names_of($made) ], [ 'ServiceAccount', 'v1', 'a' ] );
        die 'no uid' unless $made->metadata->uid && $made->metadata->resource_version;
        equal( ref $made->metadata->creation_timestamp, 'DateTime' );
    };
    my $get = sub {
        equal( [ names_of( $read->('one') ) ], ['a'] );
        refused( 404, 'NotFound', sub { $read->('nothing') } );
    };
    my $chunks = sub {
        my @wanted = map { "page-$_" } 0 .. 6;
        $core->create_namespaced_service_account( @in, body => account($_) ) for @wanted;
        my ( @names, @sizes );
        my %more = ( field_selector => 'metadata.name!=one', limit => 3 );
        do {
            my $page = $list->(%more);
            push @names, map { $_->metadata->name } @{ $page->items };
            push @sizes, scalar @{ $page->items };
            $more{continue} = $page->metadata->continue;
        } while ( $more{continue} );
        equal( [ \@names, \@sizes ], [ \@wanted, [ 3, 3, 1 ] ] );
    };
    my $replace = sub {
        my $old = $read->('one');
        $old->metadata->creation_timestamp(undef);    # which the client cannot write
        $old->secrets( account( 'one', 'b', 'c' )->secrets );
        my $new = $core->replace_namespaced_service_account( @in, name => 'one', body => $old );
        die 'the resourceVersion stayed' if $new->metadata->resource_version eq $old->metadata->resource_version;
        my $status = refused( 409, 'Conflict',
            sub { $core->replace_namespaced_service_account( @in, name => 'one', body => $old ) } );
        die $status->{message} unless $status->{message} =~ /the object has been modified/;
        equal( [ names_of( $read->('one') ) ], [ 'b', 'c' ] );
    };
    my $dry_run = sub {
        my $made = $core->create_namespaced_service_account( @in, body => account('dry'), dry_run => 'All' );
        die 'no uid' unless $made->metadata->uid;
        refused( 404, 'NotFound', sub { $read->('dry') } );
    };
    my $delete = sub {
        $core->delete_namespaced_service_account( @in, name => 'one', grace_period_seconds => 0, propagation_policy => 'Background' );
        refused( 404, 'NotFound', sub { $read->('one') } );
        $core->delete_collection_namespaced_service_account( @in, field_selector => 'metadata.name!=default' );
        equal( [ grep { $_ ne 'default' } map { $_->metadata->name } @{ $list->()->items } ], [] );
    };

    return (
        'create a built-in object without apiVersion and kind' => $create,
        'get'                                                  => $get,
        'list in chunks'                                       => $chunks,
        'replace, and replace with a stale resourceVersion'    => $replace,
        'dry run'                                              => $dry_run,
        'delete, one and many'                                 => $delete,
    );
}

1;
